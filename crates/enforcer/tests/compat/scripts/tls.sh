set -eu
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=server.test \
    -addext subjectAltName=DNS:server.test -keyout key.pem -out cert.pem 2> req.txt
openssl verify -CAfile cert.pem cert.pem > verify.txt
echo verified
echo "sha256 $(printf hello | openssl dgst -sha256 -r | cut -c 1-8)"
printf secret | openssl enc -aes-256-cbc -pbkdf2 -pass pass:word -out sealed
echo "cipher $(openssl enc -d -aes-256-cbc -pbkdf2 -pass pass:word -in sealed)"
openssl s_server -accept 127.0.0.1:4433 -cert cert.pem -key key.pem -quiet > server.txt 2>&1 &
for _ in $(seq 300); do
    if echo | openssl s_client -connect 127.0.0.1:4433 -servername server.test -verify_hostname server.test \
        -CAfile cert.pem -verify_return_error > client.txt 2>&1; then
        break
    fi
    sleep 0.1
done
echo "handshake $(grep -o 'TLSv1.3' client.txt | head -n 1)"
kill $!
