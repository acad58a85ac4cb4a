const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const zlib = require('node:zlib');
const { pipeline } = require('node:stream/promises');

async function main() {
  await fs.promises.writeFile('file', 'text');
  console.log('read', await fs.promises.readFile('file', 'utf8'));

  fs.writeFileSync('big', 'x'.repeat(100000));
  await pipeline(fs.createReadStream('big'), fs.createWriteStream('copy'));
  console.log('stream', fs.statSync('copy').size);

  const watched = new Promise((resolve) => {
    const watcher = fs.watch('.', (event, name) => {
      if (name !== 'fresh') return;
      watcher.close();
      resolve(event);
    });
  });
  fs.writeFileSync('fresh', '');
  console.log('watched', await watched);

  const folder = await fs.promises.mkdtemp(path.join(os.tmpdir(), 'node-'));
  console.log('temporary', folder.startsWith('/tmp/'));
  await fs.promises.rm(folder, { recursive: true });

  await fs.promises.mkdir('tree/a/b', { recursive: true });
  fs.writeFileSync('tree/a/b/c.txt', '');
  await fs.promises.cp('tree', 'other', { recursive: true });
  const entries = await fs.promises.readdir('other', { recursive: true });
  console.log('tree', entries.find((entry) => entry.endsWith('.txt')));

  fs.symlinkSync('file', 'link');
  console.log('link', fs.readFileSync('link', 'utf8'));

  await pipeline(fs.createReadStream('big'), zlib.createGzip(), fs.createWriteStream('big.gz'));
  console.log('gzip', zlib.gunzipSync(fs.readFileSync('big.gz')).length);

  fs.unlinkSync('file');
  console.log('gone', await fs.promises.access('file').catch((error) => error.code));
}

main();
