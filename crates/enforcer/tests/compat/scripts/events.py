import asyncio
import os
import signal
import sys


async def echo(reader, writer):
    writer.write(await reader.readline())
    await writer.drain()
    writer.close()


async def ask(port, text):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"{text}\n".encode())
    answer = await reader.readline()
    writer.close()
    return answer.decode().strip()


async def main():
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    print("echoed", await asyncio.gather(*(ask(port, n) for n in range(4))))
    server.close()

    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "print('from a child', end='')", stdout=asyncio.subprocess.PIPE)
    printed, _ = await child.communicate()
    print("subprocess", printed)

    loop = asyncio.get_running_loop()
    print("executor", await loop.run_in_executor(None, lambda: sum(range(10))))

    got = asyncio.Event()
    loop.add_signal_handler(signal.SIGUSR1, got.set)
    os.kill(os.getpid(), signal.SIGUSR1)
    await asyncio.wait_for(got.wait(), 60)
    print("signal got")

    path = os.path.join(os.environ["XDG_RUNTIME_DIR"], "socket")
    server = await asyncio.start_unix_server(echo, path)
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(b"hello\n")
    print("unix socket", (await reader.readline()).strip())
    writer.close()
    server.close()


asyncio.run(main())
