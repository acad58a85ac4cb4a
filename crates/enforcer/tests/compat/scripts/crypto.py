import hashlib
import secrets
import ssl

context = ssl.create_default_context()
print("context", context.protocol.name, context.check_hostname)

incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
tls = context.wrap_bio(incoming, outgoing, server_hostname="server.test")
try:
    tls.do_handshake()
except ssl.SSLWantReadError:
    print("client hello", outgoing.read()[0])

print("sha256", hashlib.sha256(b"hello").hexdigest()[:8])
print("scrypt", len(hashlib.scrypt(b"secret", salt=b"salt", n=1024, r=8, p=1)))
print("random", len(secrets.token_bytes(32)))
