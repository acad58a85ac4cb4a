import queue
import threading
from concurrent.futures import ThreadPoolExecutor

total = 0
lock = threading.Lock()
jobs = queue.Queue()


def worker():
    global total
    while (job := jobs.get()) is not None:
        with lock:
            total += job


threads = [threading.Thread(target=worker) for _ in range(8)]
for thread in threads:
    thread.start()
for number in range(100):
    jobs.put(number)
for _ in threads:
    jobs.put(None)
for thread in threads:
    thread.join()
print("sum", total)

with ThreadPoolExecutor(4) as pool:
    print("squares", list(pool.map(lambda n: n * n, range(5))))

local = threading.local()
seen = []
meet = threading.Barrier(2)


def remember(name):
    local.name = name
    meet.wait()
    with lock:
        seen.append(local.name)


pair = [threading.Thread(target=remember, args=(name,)) for name in "ab"]
for thread in pair:
    thread.start()
for thread in pair:
    thread.join()
print("local", sorted(seen))

fired = threading.Event()
threading.Timer(0.01, fired.set).start()
print("timer fired" if fired.wait(60) else "timer did not fire")
