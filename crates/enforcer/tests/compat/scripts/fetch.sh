set -u
python3 serve.py &
for _ in $(seq 600); do [ -e port ] && break; sleep 0.1; done
port=$(cat port)
curl --silent --show-error --max-time 60 "http://127.0.0.1:$port/page.txt"
curl --silent --max-time 60 --output missing.txt --write-out '%{http_code}\n' "http://localhost:$port/missing"
kill $!
curl --silent --max-time 60 http://127.0.0.1:1/
echo "nobody there $?"
curl --silent --max-time 60 http://name.invalid/
echo "unresolved $?"
