// HTTP/2 over TLS, and no other. Says its port, and ends when nobody holds its input any more.
const fs = require('node:fs');
const http2 = require('node:http2');

const options = { cert: fs.readFileSync('cert.pem'), key: fs.readFileSync('key.pem'), allowHTTP1: false };
const server = http2.createSecureServer(options, (request, response) => {
  let length = 0;
  request.on('data', (piece) => { length += piece.length; });
  request.on('end', () => {
    response.end(`${request.httpVersion} ${request.authority} ${request.socket.servername} ${length}\n`);
  });
});
server.on('sessionError', () => {});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
