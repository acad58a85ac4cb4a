//! Honest code that reads keys, files and settings and speaks to hosts.

use skillsandbox_scanner::ScanVerdict::{self, Safe, Warning};

use crate::scan;

#[test]
fn row_192_honest_python_is_left_alone() {
    assert_eq!(wronged("scripts/run.py", PYTHON), Vec::<String>::new());
}

#[test]
fn row_192_honest_javascript_is_left_alone() {
    assert_eq!(wronged("scripts/run.mjs", SCRIPT), Vec::<String>::new());
    assert!(PYTHON.len() + SCRIPT.len() >= 60, "{}", PYTHON.len() + SCRIPT.len());
}

/// Those samples that are judged harder than they may be, with why.
fn wronged(path: &str, table: &[(&str, ScanVerdict, &str)]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, most, code) in table {
        let report = scan(&[(path, code)]);
        if report.verdict > *most {
            let rules: Vec<_> =
                report.findings.iter().map(|finding| format!("{} ({})", finding.rule, finding.why)).collect();
            wrong.push(format!("{name}: {:?} {rules:?}", report.verdict));
        }
    }
    wrong
}

const PYTHON: &[(&str, ScanVerdict, &str)] = &[
    (
        "bearer",
        Safe,
        "import os, requests\nkey = os.environ['NOTION_API_KEY']\nr = requests.post('https://api.notion.test/v1/pages', headers={'Authorization': f'Bearer {key}'}, json={'a': 1})\nprint(r.json())\n",
    ),
    (
        "bearer to another name",
        Safe,
        "import os, requests\nkey = os.environ['MYTOOL_TOKEN']\nrequests.get('https://api.vendor.test/v1/items', headers={'X-Api-Key': key})\n",
    ),
    (
        "key in query",
        Safe,
        "import os, requests\nr = requests.get('https://api.weather.test/v1', params={'q': 'x', 'appid': os.getenv('WEATHER_API_KEY')})\n",
    ),
    (
        "key in body of own",
        Safe,
        "import os, requests\nrequests.post('https://api.tavily.test/search', json={'api_key': os.environ['TAVILY_API_KEY'], 'query': 'x'})\n",
    ),
    (
        "headers variable",
        Safe,
        "import os, requests\nHEADERS = {'Authorization': 'token ' + os.environ['GITHUB_TOKEN'], 'Accept': 'application/json'}\ndef get(path):\n    return requests.get('https://api.github.test' + path, headers=HEADERS).json()\nprint(get('/user'))\n",
    ),
    (
        "session headers",
        Safe,
        "import os, requests\ns = requests.Session()\ns.headers.update({'Authorization': 'Bearer ' + os.environ['LINEAR_API_KEY']})\ns.post('https://api.linear.test/graphql', json={'query': '{ me }'})\n",
    ),
    (
        "base url variable",
        Safe,
        "import os, requests\nBASE = os.environ['JIRA_BASE_URL']\nrequests.post(BASE + '/rest/api/2/issue', auth=(os.environ['JIRA_USER'], os.environ['JIRA_API_TOKEN']), json={'f': 1})\n",
    ),
    (
        "body to variable url",
        Safe,
        "import os, requests\nrequests.post(os.environ['WIKI_URL'] + '/login', json={'user': 'a', 'password': os.environ['WIKI_PASSWORD']})\n",
    ),
    (
        "oauth",
        Safe,
        "import os, requests\nr = requests.post('https://login.vendor.test/oauth2/token', data={'grant_type': 'client_credentials', 'client_id': os.environ['ACME_CLIENT_ID'], 'client_secret': os.environ['ACME_CLIENT_SECRET']})\ntoken = r.json()['access_token']\nrequests.get('https://graph.vendor.test/v1/me', headers={'Authorization': 'Bearer ' + token})\n",
    ),
    (
        "refresh from file",
        Safe,
        "import json, requests, pathlib\nc = json.loads(pathlib.Path('credentials.json').read_text())\nr = requests.post('https://oauth.vendor.test/token', data={'client_id': c['client_id'], 'client_secret': c['client_secret'], 'refresh_token': c['refresh_token']})\npathlib.Path('token.json').write_text(r.text)\n",
    ),
    (
        "dotenv",
        Safe,
        "import os\nfrom dotenv import load_dotenv\nimport requests\nload_dotenv()\nrequests.post('https://api.vendor.test/v1', headers={'Authorization': os.getenv('VENDOR_TOKEN')}, json={})\n",
    ),
    (
        "own dotenv reader",
        Safe,
        "import os, requests\ndef load_env(path='.env'):\n    env = {}\n    with open(path) as f:\n        for line in f:\n            if '=' in line:\n                k, v = line.strip().split('=', 1)\n                env[k] = v\n    return env\nenv = load_env()\nrequests.post('https://api.vendor.test/v1', headers={'Authorization': 'Bearer ' + env['VENDOR_API_KEY']}, json={'a': 1})\n",
    ),
    (
        "config token",
        Safe,
        "import json, os, requests\ncfg = json.load(open(os.path.expanduser('~/.config/vendor/config.json')))\nrequests.get('https://api.vendor.test/v1', headers={'Authorization': 'Bearer ' + cfg['token']})\n",
    ),
    (
        "kept token",
        Safe,
        "import os, requests\ntoken = open(os.path.expanduser('~/.config/vendor/token')).read().strip()\nrequests.post('https://api.vendor.test/v1/items', headers={'Authorization': f'Bearer {token}'}, json={'a': 1})\n",
    ),
    (
        "env for a program",
        Safe,
        "import os, subprocess\nenv = os.environ.copy()\nenv['PYTHONUNBUFFERED'] = '1'\nsubprocess.run(['make', 'test'], env=env, check=True)\n",
    ),
    (
        "env spread for a program",
        Safe,
        "import os, subprocess, requests\nsubprocess.run(['ls'], env={**os.environ, 'LANG': 'C'})\nrequests.post('https://api.vendor.test/v1', json={'done': True})\n",
    ),
    (
        "output sent",
        Safe,
        "import subprocess, requests\nout = subprocess.run(['git', 'log', '-1'], capture_output=True, text=True).stdout\nrequests.post('https://api.vendor.test/v1', json={'log': out})\n",
    ),
    (
        "upload of a user's file",
        Safe,
        "import sys, requests\nwith open(sys.argv[1], 'rb') as f:\n    r = requests.post('https://api.vendor.test/upload', files={'file': f})\nprint(r.status_code)\n",
    ),
    (
        "bucket upload",
        Safe,
        "import boto3, sys\ns3 = boto3.client('s3')\ns3.upload_file(sys.argv[1], 'bucket', 'key')\n",
    ),
    (
        "bucket with keys",
        Safe,
        "import boto3, os\ns3 = boto3.client('s3', aws_access_key_id=os.environ['AWS_ACCESS_KEY_ID'], aws_secret_access_key=os.environ['AWS_SECRET_ACCESS_KEY'])\ns3.put_object(Bucket='b', Key='k', Body=b'x')\n",
    ),
    (
        "sdk",
        Safe,
        "import os\nfrom openai import OpenAI\nclient = OpenAI(api_key=os.environ['OPENAI_API_KEY'])\nr = client.chat.completions.create(model='m', messages=[{'role': 'user', 'content': 'hi'}])\nprint(r.choices[0].message.content)\n",
    ),
    (
        "sdk answer posted",
        Safe,
        "import os, requests\nfrom openai import OpenAI\nclient = OpenAI(api_key=os.environ['OPENAI_API_KEY'])\nr = client.chat.completions.create(model='m', messages=[])\nrequests.post(os.environ['SLACK_WEBHOOK_URL'], json={'text': r.choices[0].message.content})\n",
    ),
    (
        "stripe",
        Safe,
        "import os, stripe\nstripe.api_key = os.environ['STRIPE_SECRET_KEY']\nprint(stripe.Charge.list())\n",
    ),
    (
        "webhook from environment",
        Safe,
        "import os, requests\nurl = os.environ.get('SLACK_WEBHOOK_URL')\nif url:\n    requests.post(url, json={'text': 'done'})\n",
    ),
    (
        "localhost",
        Safe,
        "import os, requests\nrequests.post('http://localhost:3000/debug', json=dict(os.environ))\n",
    ),
    (
        "mail",
        Safe,
        "import os, smtplib\nfrom email.mime.text import MIMEText\nm = MIMEText('report')\nwith smtplib.SMTP(os.environ['SMTP_HOST'], 587) as s:\n    s.starttls()\n    s.login(os.environ['SMTP_USER'], os.environ['SMTP_PASSWORD'])\n    s.send_message(m)\n",
    ),
    (
        "database",
        Safe,
        "import os, psycopg2\nc = psycopg2.connect(os.environ['DATABASE_URL'])\nprint(c.cursor().execute('select 1'))\n",
    ),
    (
        "ssh deploy",
        Safe,
        "import subprocess\nsubprocess.run(['ssh', '-i', '/home/u/.ssh/deploy_key', 'deploy@host.vendor.test', 'systemctl restart app'])\n",
    ),
    (
        "paramiko",
        Safe,
        "import paramiko, os\nc = paramiko.SSHClient()\nc.connect('host.vendor.test', username='u', key_filename=os.path.expanduser('~/.ssh/id_rsa'))\nc.exec_command('uptime')\n",
    ),
    (
        "ssh config",
        Safe,
        "import os\nfor line in open(os.path.expanduser('~/.ssh/known_hosts')):\n    print(line.split()[0])\n",
    ),
    (
        "jwt",
        Safe,
        "import jwt, requests, time\nkey = open('private-key.pem').read()\nt = jwt.encode({'iat': int(time.time())}, key, algorithm='RS256')\nrequests.post('https://api.vendor.test/app/tokens', headers={'Authorization': f'Bearer {t}'})\n",
    ),
    (
        "signature",
        Safe,
        "import hmac, hashlib, os, requests\nsig = hmac.new(os.environ['EXCHANGE_SECRET'].encode(), b'q', hashlib.sha256).hexdigest()\nrequests.get('https://api.vendor.test/v1/account', params={'signature': sig}, headers={'X-KEY': os.environ['EXCHANGE_API_KEY']})\n",
    ),
    (
        "two keys of one house",
        Safe,
        "import os, requests\nrequests.post('https://api.twilio.test/messages', data={'sid': os.environ['TWILIO_ACCOUNT_SID'], 'token': os.environ['TWILIO_AUTH_TOKEN']})\n",
    ),
    (
        "two services",
        Safe,
        "import os, requests\na = requests.get('https://api.alpha.test/v1', headers={'Authorization': os.environ['ALPHA_TOKEN']}).json()\nrequests.post('https://api.beta.test/v1', headers={'Authorization': os.environ['BETA_TOKEN']}, json=a)\n",
    ),
    (
        "client class",
        Safe,
        "import os, requests\nclass Client:\n    def __init__(self, token=None):\n        self.token = token or os.environ.get('ASANA_TOKEN')\n        self.base = 'https://app.asana.test/api/1.0'\n    def call(self, path, body):\n        return requests.post(self.base + path, headers={'Authorization': f'Bearer {self.token}'}, json=body)\nClient().call('/tasks', {'name': 'x'})\n",
    ),
    (
        "urllib client",
        Safe,
        "import os, json, urllib.request\nreq = urllib.request.Request('https://api.vendor.test/v1', data=json.dumps({'a': 1}).encode(), headers={'Authorization': 'Bearer ' + os.environ['VENDOR_KEY']})\nprint(urllib.request.urlopen(req).read())\n",
    ),
    (
        "check of keys",
        Safe,
        "import os\nfor k in ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY']:\n    print(k, 'set' if os.environ.get(k) else 'missing')\n",
    ),
    (
        "which key is there",
        Safe,
        "import os, requests\nhas = {k: bool(os.environ.get(k)) for k in ['OPENAI_API_KEY', 'GITHUB_TOKEN']}\nrequests.post('https://api.vendor.test/v1/health', json={'ok': True})\n",
    ),
    ("mask", Safe, "import os\nk = os.environ.get('API_KEY', '')\nprint(k[:4] + '...' )\n"),
    (
        "backup",
        Safe,
        "import shutil, os, datetime\nshutil.make_archive('/backup/home-' + str(datetime.date.today()), 'gztar', os.path.expanduser('~/Documents'))\n",
    ),
    (
        "removes its own folder",
        Safe,
        "import shutil, tempfile\nd = tempfile.mkdtemp()\nshutil.rmtree(d)\nshutil.rmtree('build', ignore_errors=True)\n",
    ),
    (
        "cleans a cache",
        Safe,
        "import os\nfor root, dirs, files in os.walk('.'):\n    for f in files:\n        if f.endswith('.pyc'):\n            os.remove(os.path.join(root, f))\n",
    ),
    (
        "download",
        Safe,
        "import requests\nopen('model.bin', 'wb').write(requests.get('https://cdn.vendor.test/model.bin').content)\n",
    ),
    (
        "template engine",
        Warning,
        "import json\ncode = compile(open('template.py').read(), 'template.py', 'exec')\nexec(code, {'x': 1})\n",
    ),
    (
        "decodes an answer",
        Safe,
        "import base64, requests\nr = requests.post('https://api.vendor.test/image', json={'p': 'cat'}).json()\nopen('o.png', 'wb').write(base64.b64decode(r['data']))\n",
    ),
    (
        "server",
        Safe,
        "from http.server import HTTPServer, BaseHTTPRequestHandler\nHTTPServer(('127.0.0.1', 8000), BaseHTTPRequestHandler).serve_forever()\n",
    ),
    (
        "screenshots to a model",
        Warning,
        "import pyautogui, requests, base64, os\ns = pyautogui.screenshot()\nrequests.post('https://api.vendor.test/vision', headers={'Authorization': os.environ['VENDOR_KEY']}, json={'image': base64.b64encode(s.tobytes()).decode()})\n",
    ),
    (
        "git config",
        Safe,
        "import subprocess\nprint(subprocess.check_output(['git', 'config', 'user.name']))\n",
    ),
    (
        "home paths",
        Safe,
        "from pathlib import Path\nout = Path.home() / '.cache' / 'tool'\nout.mkdir(parents=True, exist_ok=True)\n(out / 'a.json').write_text('{}')\n",
    ),
    (
        "keyring",
        Safe,
        "import keyring, requests\nt = keyring.get_password('vendor', 'token')\nrequests.get('https://api.vendor.test/v1', headers={'Authorization': t})\n",
    ),
    (
        "kubernetes",
        Safe,
        "import requests\nt = open('/var/run/secrets/kubernetes.io/serviceaccount/token').read()\nrequests.get('https://kubernetes.default.svc/api', headers={'Authorization': 'Bearer ' + t})\n",
    ),
    ("writes a sample of settings", Safe, "open('.env.example', 'w').write('API_KEY=\\n')\n"),
    (
        "graphql",
        Safe,
        "import os, httpx\nc = httpx.Client(base_url='https://api.monday.test', headers={'Authorization': os.environ['MONDAY_TOKEN']})\nc.post('/v2', json={'query': '{ boards { id } }'})\n",
    ),
    (
        "sentry",
        Safe,
        "import os, sentry_sdk\nsentry_sdk.init(dsn=os.environ['SENTRY_DSN'], environment=os.environ.get('ENV', 'dev'))\n",
    ),
];

const SCRIPT: &[(&str, ScanVerdict, &str)] = &[
    (
        "bearer",
        Safe,
        "const r = await fetch('https://api.notion.test/v1/pages', { method: 'POST', headers: { Authorization: `Bearer ${process.env.NOTION_TOKEN}` }, body: JSON.stringify({ a: 1 }) });\nconsole.log(await r.json());\n",
    ),
    (
        "own name",
        Safe,
        "const key = process.env.VENDOR_API_KEY ?? '';\nawait fetch(`https://api.vendor.test/v1?key=${key}`);\n",
    ),
    (
        "axios instance",
        Safe,
        "import axios from 'axios';\nconst api = axios.create({ baseURL: 'https://api.vendor.test', headers: { 'x-api-key': process.env.TOOL_KEY } });\nawait api.post('/items', { a: 1 });\n",
    ),
    (
        "base url",
        Safe,
        "const base = process.env.API_BASE_URL || 'https://api.vendor.test';\nawait fetch(`${base}/login`, { method: 'POST', body: JSON.stringify({ password: process.env.VENDOR_PASSWORD }) });\n",
    ),
    (
        "config",
        Safe,
        "import fs from 'fs';\nimport os from 'os';\nconst cfg = JSON.parse(fs.readFileSync(`${os.homedir()}/.config/vendor/auth.json`, 'utf8'));\nawait fetch('https://api.vendor.test/v1', { headers: { Authorization: `Bearer ${cfg.token}` } });\n",
    ),
    (
        "spawn with environment",
        Safe,
        "import { spawn } from 'child_process';\nspawn('npm', ['test'], { env: { ...process.env, CI: '1' }, stdio: 'inherit' });\n",
    ),
    (
        "stdio server",
        Safe,
        "import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';\nconst t = new StdioClientTransport({ command: 'node', args: ['server.js'], env: process.env });\nawait t.start();\n",
    ),
    (
        "server",
        Safe,
        "import express from 'express';\nconst app = express();\napp.get('/health', (req, res) => res.send({ ok: true, env: process.env.NODE_ENV }));\napp.listen(process.env.PORT || 3000);\n",
    ),
    (
        "sdk",
        Safe,
        "import OpenAI from 'openai';\nconst client = new OpenAI({ apiKey: process.env.OPENAI_API_KEY });\nconst r = await client.responses.create({ model: 'm', input: 'x' });\nconsole.log(r.output_text);\n",
    ),
    (
        "sdk and webhook",
        Safe,
        "import Anthropic from '@anthropic-ai/sdk';\nconst c = new Anthropic({ apiKey: process.env.ANTHROPIC_API_KEY });\nconst m = await c.messages.create({ model: 'm', max_tokens: 10, messages: [] });\nawait fetch(process.env.WEBHOOK_URL, { method: 'POST', body: JSON.stringify({ text: m.content[0].text }) });\n",
    ),
    (
        "upload",
        Safe,
        "import fs from 'fs';\nconst body = fs.createReadStream(process.argv[2]);\nawait fetch('https://api.vendor.test/upload', { method: 'PUT', body, headers: { Authorization: process.env.UPLOAD_TOKEN } });\n",
    ),
    (
        "dotenv",
        Safe,
        "import 'dotenv/config';\nconst { VENDOR_ID, VENDOR_SECRET } = process.env;\nawait fetch('https://auth.vendor.test/oauth/token', { method: 'POST', body: new URLSearchParams({ client_id: VENDOR_ID, client_secret: VENDOR_SECRET }) });\n",
    ),
    (
        "own dotenv reader",
        Safe,
        "import fs from 'fs';\nconst env = {};\nfor (const line of fs.readFileSync('.env', 'utf8').split('\\n')) {\n  const [k, v] = line.split('=');\n  env[k] = v;\n}\nawait fetch('https://api.vendor.test/v1', { method: 'POST', headers: { Authorization: env.VENDOR_KEY }, body: '{}' });\n",
    ),
    (
        "token cache",
        Safe,
        "import fs from 'fs';\nconst r = await fetch('https://api.vendor.test/token', { method: 'POST', body: JSON.stringify({ key: process.env.VENDOR_KEY }) });\nfs.writeFileSync('token.json', await r.text());\n",
    ),
    (
        "build script",
        Safe,
        "const { execSync } = require('child_process');\nexecSync('npm run build && npm run lint', { stdio: 'inherit' });\n",
    ),
    (
        "aws client",
        Safe,
        "import { S3Client, PutObjectCommand } from '@aws-sdk/client-s3';\nconst c = new S3Client({ region: 'x', credentials: { accessKeyId: process.env.AWS_ACCESS_KEY_ID, secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY } });\nawait c.send(new PutObjectCommand({ Bucket: 'b', Key: 'k', Body: 'x' }));\n",
    ),
    (
        "discord",
        Safe,
        "import { Client } from 'discord.js';\nconst c = new Client({ intents: [] });\nawait c.login(process.env.DISCORD_TOKEN);\n",
    ),
    (
        "reads its own settings",
        Safe,
        "const fs = require('fs');\nconst p = require('path').join(__dirname, 'config.json');\nconsole.log(JSON.parse(fs.readFileSync(p, 'utf8')));\n",
    ),
    (
        "deletes its output",
        Safe,
        "import fs from 'fs';\nfs.rmSync('dist', { recursive: true, force: true });\n",
    ),
    (
        "web socket",
        Safe,
        "import WebSocket from 'ws';\nconst w = new WebSocket('wss://stream.vendor.test', { headers: { Authorization: process.env.VENDOR_TOKEN } });\nw.on('message', (m) => console.log(m.toString()));\n",
    ),
    (
        "list of variables",
        Safe,
        "const missing = ['OPENAI_API_KEY', 'GITHUB_TOKEN'].filter((k) => !process.env[k]);\nif (missing.length) console.error('missing', missing.join(', '));\n",
    ),
    (
        "browser page",
        Safe,
        "const token = localStorage.getItem('token');\nfetch('/api/items', { headers: { Authorization: `Bearer ${token}` } });\n",
    ),
];
