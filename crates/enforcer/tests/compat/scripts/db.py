import sqlite3
import threading

db = sqlite3.connect("kept.db")
print("mode", db.execute("pragma journal_mode = wal").fetchone()[0])
db.execute("create table numbers (n integer primary key, text text)")
with db:
    db.executemany("insert into numbers values (?, ?)", ((n, str(n)) for n in range(1000)))
print("rows", *db.execute("select count(*) from numbers").fetchone(),
      "sum", *db.execute("select sum(n) from numbers").fetchone())


def read():
    other = sqlite3.connect("kept.db")
    print("from a thread", *other.execute("select count(*) from numbers").fetchone())


thread = threading.Thread(target=read)
thread.start()
thread.join()
print("integrity", *db.execute("pragma integrity_check").fetchone())
db.close()
