import socket

listener = socket.create_server(("::1", 0), family=socket.AF_INET6)
client = socket.create_connection(listener.getsockname()[:2], timeout=60)
peer, _ = listener.accept()
peer.sendall(b"hello")
print("six", client.recv(100))
