# asyncio's streams; the second argument is a certificate to trust.
import asyncio
import socket
import ssl
import sys

port = int(sys.argv[1])
context = ssl.create_default_context(cafile=sys.argv[2]) if len(sys.argv) > 2 else None


async def fetch(**options):
    if context:
        options["ssl"] = context
    reader, writer = await asyncio.open_connection("api.weather.test", port, **options)
    writer.write(b"GET / HTTP/1.1\r\nHost: api.weather.test\r\n\r\n")
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
    print((await reader.readexactly(length)).decode(), end="")
    writer.close()
    await writer.wait_closed()


async def main():
    await fetch()
    await fetch(family=socket.AF_INET)
    await fetch(family=socket.AF_INET6)
    await fetch(happy_eyeballs_delay=0.25)


asyncio.run(main())
