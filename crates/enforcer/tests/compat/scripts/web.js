const dgram = require('node:dgram');
const dns = require('node:dns/promises');
const http = require('node:http');
const net = require('node:net');

const listening = (server) => new Promise((resolve) => {
  server.listen(0, '127.0.0.1', () => resolve(server.address().port));
});

async function main() {
  const server = http.createServer((request, response) => {
    let length = 0;
    request.on('data', (data) => { length += data.length; });
    request.on('end', () => {
      response.end(request.method === 'POST' ? `POST ${length}` : `GET ${request.url}`);
    });
  });
  const address = `http://127.0.0.1:${await listening(server)}`;
  const text = async (url, options) => (await fetch(url, options)).text();
  console.log(await text(`${address}/hello`));
  console.log(await text(address, { method: 'POST', body: 'hello world' }));
  const answers = await Promise.all([...Array(8).keys()].map((n) => text(`${address}/${n}`)));
  console.log('parallel', new Set(answers).size);
  server.closeAllConnections?.();
  server.close();

  const echo = net.createServer((socket) => socket.pipe(socket));
  const client = net.connect(await listening(echo), '127.0.0.1');
  client.write('echo');
  console.log('net', (await new Promise((resolve) => { client.once('data', resolve); })).toString());
  client.destroy();
  echo.close();

  const receiver = dgram.createSocket('udp4');
  await new Promise((resolve) => { receiver.bind(0, '127.0.0.1', resolve); });
  const sender = dgram.createSocket('udp4');
  const received = new Promise((resolve) => { receiver.once('message', resolve); });
  sender.send('ping', receiver.address().port, '127.0.0.1');
  console.log('udp', (await received).toString());
  sender.close();
  receiver.close();

  console.log('lookup', (await dns.lookup('localhost', { family: 4 })).address);
}

main();
