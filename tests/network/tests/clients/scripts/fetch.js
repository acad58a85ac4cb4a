const http = require('node:http');

const get = (options) => new Promise((resolve, reject) => {
  http.get({ host: 'api.weather.test', ...options }, (response) => {
    let text = '';
    response.on('data', (piece) => { text += piece; });
    response.on('end', () => resolve(text));
  }).on('error', reject);
});

// Of several addresses that all fail, Node tells of all.
const code = (error) => error.cause?.code ?? error.code ?? error.errors?.[0]?.code;

(async () => {
  process.stdout.write(`fetch ${await (await fetch('http://api.weather.test/')).text()}`);
  process.stdout.write(`http ${await get({ autoSelectFamily: true })}`);
  process.stdout.write(`http4 ${await get({ family: 4 })}`);
  process.stdout.write(`http6 ${await get({ family: 6 })}`);
  await fetch('http://webhook.test/').catch((error) => console.log('fetch webhook', code(error)));
  await get({ port: 81, autoSelectFamily: true }).catch((error) => console.log('http 81', code(error)));
})();
