const crypto = require('node:crypto');
const { promisify } = require('node:util');

async function main() {
  console.log('sha256', crypto.createHash('sha256').update('hello').digest('hex').slice(0, 8));
  console.log('scrypt', (await promisify(crypto.scrypt)('secret', 'salt', 64)).length);

  const { publicKey, privateKey } = await promisify(crypto.generateKeyPair)('ec', { namedCurve: 'P-256' });
  const signature = crypto.sign('sha256', Buffer.from('text'), privateKey);
  console.log('signed', crypto.verify('sha256', Buffer.from('text'), publicKey, signature));

  const [key, iv] = [crypto.randomBytes(32), crypto.randomBytes(12)];
  const cipher = crypto.createCipheriv('aes-256-gcm', key, iv);
  const sealed = Buffer.concat([cipher.update('secret'), cipher.final()]);
  const decipher = crypto.createDecipheriv('aes-256-gcm', key, iv);
  decipher.setAuthTag(cipher.getAuthTag());
  console.log('cipher', decipher.update(sealed) + decipher.final('utf8'));

  const digest = await crypto.webcrypto.subtle.digest('SHA-256', Buffer.from('hello'));
  console.log('webcrypto', digest.byteLength);
  console.log('random', crypto.randomBytes(16).length);

  // (func (export "add") (param i32 i32) (result i32) local.get 0 local.get 1 i32.add)
  const code = Buffer.from('0061736d0100000001070160027f7f017f03020100070701036164640000'
    + '0a09010700200020016a0b', 'hex');
  const { instance } = await WebAssembly.instantiate(code);
  console.log('wasm', instance.exports.add(2, 3));
}

main();
