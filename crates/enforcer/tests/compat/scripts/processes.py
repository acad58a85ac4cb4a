import math
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import shared_memory


def square(n):
    return n * n


def answer(queue):
    queue.put(42)


def count(counter, lock):
    for _ in range(100):
        with lock:
            counter.value += 1


def write(name):
    block = shared_memory.SharedMemory(name=name)
    block.buf[:5] = b"hello"
    block.close()


def main():
    for method in ["fork", "spawn", "forkserver"]:
        context = multiprocessing.get_context(method)
        with context.Pool(2) as pool:
            squares = pool.map(square, [1, 2, 3, 4])
        queue = context.Queue()
        child = context.Process(target=answer, args=(queue,))
        child.start()
        got = queue.get(timeout=120)
        child.join()
        counter, lock = context.Value("i", 0), context.Lock()
        children = [context.Process(target=count, args=(counter, lock)) for _ in range(4)]
        for child in children:
            child.start()
        for child in children:
            child.join()
        print(method, squares, "child", got, "counter", counter.value, flush=True)

    block = shared_memory.SharedMemory(create=True, size=4096)
    child = multiprocessing.Process(target=write, args=(block.name,))
    child.start()
    child.join()
    print("shared memory", bytes(block.buf[:5]).decode(), flush=True)
    block.close()
    block.unlink()

    with multiprocessing.Manager() as manager:
        print("manager", list(manager.list([1, 2, 3])), flush=True)

    with ProcessPoolExecutor(2) as executor:
        print("executor", list(executor.map(math.factorial, [1, 2, 3, 4])), flush=True)


if __name__ == "__main__":
    main()
