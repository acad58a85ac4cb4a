'use strict';
// Everything from the trace goes through shown() and textContent. Nothing is ever made into elements or code.
(() => {
  const $ = (id) => document.getElementById(id);
  const ROW = 26, MOST_HEIGHT = 8e6, MOST_ROWS = 200, MOST_PRINTED = 2000, LONG = 20000;

  // What has no glyph, or acts on others, becomes visible. Brackets are ours: a real backslash is doubled.
  const HIDDEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}|\p{M}{4,}/gu;
  const code = (c) => '\\u{' + c.codePointAt(0).toString(16) + '}';
  const escape = (text) => text.replace(HIDDEN, (run) => Array.from(run, code).join(''));
  const cut = (text) => (text.length > LONG ? text.slice(0, LONG) + ' (cut: ' + text.length + ' characters)' : text);
  const shown = (value) => escape(cut(String(value ?? '')).replaceAll('\\', '\\\\'));
  const shownLine = (value) => escape(cut(String(value ?? '')));

  function make(tag, classes, text) {
    const element = document.createElement(tag);
    if (classes) element.className = classes;
    if (text !== undefined) element.textContent = text;
    return element;
  }
  function button(text, action) {
    const element = make('button', 'link', text);
    element.type = 'button';
    element.addEventListener('click', action);
    return element;
  }
  const base = (path) => String(path).replace(/\/+$/, '').split('/').pop() || String(path);
  const list = (value) => (Array.isArray(value) ? value : []);
  const number = (value) => Number(value) || 0;
  const times = (event) => number(event.count ?? 1);
  const bytes = (count) => {
    let unit = 0;
    for (; count >= 10240 && unit < 4; unit++) count /= 1024;
    return Math.floor(count) + ' ' + ['B', 'KiB', 'MiB', 'GiB', 'TiB'][unit];
  };
  const lasted = (us) => (us < 1e3 ? us + ' µs' : us < 1e6 ? (us / 1e3).toFixed(1) + ' ms' : (us / 1e6).toFixed(2) + ' s');
  // A plain word of the trace's own vocabulary, or nothing: used for classes of elements.
  const word = (value, known) => (known.includes(value) ? value : '');
  const VERDICTS = ['allowed', 'denied', 'failed', 'unknown'];
  const SEVERITIES = ['low', 'medium', 'high', 'critical'];

  const OPERATIONS = new Map(Object.entries({ make_folder: 'mkdir', make_node: 'mknod', change_mode: 'chmod',
    change_attributes: 'setattr', connect: 'unix' }));
  const KINDS = new Map(Object.entries({ run_started: 'start', dns_query: 'dns', syscall_refused: 'syscall',
    resource_limit_hit: 'limit', run_ended: 'end' }));
  function kindOf(event) {
    if (event.kind === 'file') return OPERATIONS.get(event.operation) ?? String(event.operation);
    if (event.kind === 'net_connect') return event.transport === 'udp' ? 'send' : 'connect';
    return KINDS.get(event.kind) ?? String(event.kind);
  }
  // A policy that is only stated is never a verdict.
  const verdictOf = (event) => (event.kind === 'policy' ? '' : word(event.verdict, VERDICTS));
  const quote = (argument) => (/^[\w@%+=:,./-]+$/.test(argument) ? argument : "'" + argument.replaceAll("'", "'\\''") + "'");
  const commandLine = (argv) => list(argv).map((argument) => quote(String(argument))).join(' ');
  function target(event) {
    const host = event.name ?? event.address ?? '?';
    return (event.name === undefined && String(host).includes(':') ? '[' + host + ']' : host) + ':' + event.port;
  }
  const real = (event) => (event.leads_to === undefined ? '' : ' ⇒ ' + shown(event.leads_to));
  function about(event) {
    switch (event.kind) {
      case 'run_started': return shown(commandLine(event.command));
      case 'policy': return shown(event.subject + ': ' + event.message) +
        Object.entries(event.figures ?? {}).map(([name, count]) => '; ' + shown(name) + ' ' + number(count)).join('');
      case 'file': return shown(event.path) + (event.to === undefined ? '' : ' → ' + shown(event.to)) + real(event);
      case 'exec': return shown(event.path) + ' ' + shown(commandLine(list(event.argv).slice(1))) + real(event);
      case 'dns_query': return (event.name === undefined ? 'a name that nobody read' : shown(event.name)) +
        (event.server === undefined ? '' : ' asked of ' + shown(event.server));
      case 'net_connect': return shown(target(event)) +
        (event.server_name !== undefined && event.server_name !== event.name ? ' asking for ' + shown(event.server_name) : '') +
        (event.reason === undefined ? '' : ' (' + shown(event.reason) + ')');
      case 'syscall_refused': return shown(event.name + ': ' + event.reason);
      case 'stdout': case 'stderr': return shownLine(event.text) + (event.omitted ? ' (and ' + number(event.omitted) + ' more bytes)' : '');
      case 'resource_limit_hit': return shown(event.limit + ', held by ' + event.mechanism);
      case 'lost': return 'events that came too fast for the ' + shown(event.at);
      case 'run_ended': return (event.exit_code !== undefined ? 'exit code ' + number(event.exit_code)
        : event.signal !== undefined ? 'signal ' + number(event.signal) : 'no exit code') + ', ended by ' + shown(event.end) +
        (event.error === undefined ? '' : ': ' + shown(event.error));
      default: return '';
    }
  }
  const aboutAll = (event) => about(event).slice(0, 400) + (times(event) > 1 ? '  ×' + times(event) : '');
  const processOf = (event) => (event.process ? base(event.process.binary ?? '?') + '(' + number(event.process.pid) + ')' : '');
  const clock = (event) => (/T(\d\d:\d\d:\d\d)/.exec(event.time) ?? ['', ''])[1] + '.' +
    ((/\.(\d{1,3})/.exec(event.time) ?? ['', ''])[1] + '000').slice(0, 3);

  function table(id, heads, rows, empty) {
    const body = $(id);
    const head = body.createTHead().insertRow();
    for (const [text, classes] of heads) head.append(make('th', classes, text));
    const place = body.createTBody();
    for (const cells of rows.slice(0, MOST_ROWS)) {
      const row = place.insertRow();
      cells.forEach((cell, index) => {
        const td = make('td', heads[index][1] ?? '');
        if (cell instanceof ProcessNode) td.append(cell);
        else if (Array.isArray(cell)) { td.textContent = cell[0]; if (cell[1]) td.classList.add(cell[1]); }
        else td.textContent = cell;
        row.append(td);
      });
    }
    if (rows.length > MOST_ROWS) place.insertRow().insertCell().textContent = 'and ' + (rows.length - MOST_ROWS) + ' more';
    if (rows.length === 0) { body.replaceChildren(); body.createTBody().insertRow().insertCell().textContent = empty; }
  }
  const figure = (count, kind) => [String(count), count > 0 ? kind : ''];

  const trace = JSON.parse($('data').textContent);
  const events = list(trace.events);
  const summary = trace.violation_summary ?? {};
  const findings = list(summary.classifications);
  const classesAt = new Map();
  for (const finding of findings)
    for (const place of list(finding.evidence))
      classesAt.set(place, [...new Set([...(classesAt.get(place) ?? []), String(finding.class)])]);

  function header() {
    $('skill').textContent = shown(trace.skill_name);
    $('version').textContent = shown(trace.skill_version ?? '');
    const verdict = $('verdict');
    const denied = number(summary.denied), unknown = number(summary.unknown ?? 0);
    const open = findings.every((finding) => finding.prevented === true || finding.unknown === true);
    if (findings.length === 0 && unknown > 0) {
      verdict.classList.add('bad');
      verdict.textContent = denied + ' denied; of ' + unknown + ' it is not known what became of them';
    } else if (findings.length === 0) {
      verdict.classList.add(denied === 0 ? 'good' : 'held');
      verdict.textContent = denied === 0 ? 'Nothing was denied, and nothing looks like an attack'
        : denied + ' denied; nothing looks like an attack';
    } else {
      verdict.classList.add(summary.all_prevented === true ? 'held' : 'bad');
      verdict.textContent = findings.length + (findings.length === 1 ? ' finding' : ' findings') + ', severity ' +
        (word(summary.max_severity, SEVERITIES) || 'unknown') + ': ' + (summary.all_prevented === true
        ? 'no attempt that proves it took effect' : open ? 'not known whether everything was prevented' : 'not everything was prevented');
    }
    // What a trace says of itself is not believed over its events.
    const counted = { allowed: 0, denied: 0, failed: 0, unknown: 0 };
    for (const event of events) if (verdictOf(event)) counted[verdictOf(event)] += times(event);
    const wrong = VERDICTS.filter((name) => counted[name] !== number(summary[name] ?? 0));
    if (wrong.length > 0 || number(summary.events) !== events.length) {
      verdict.className = 'verdict bad';
      verdict.textContent = 'Doubtful: the summary is not what its events add up to. ' + verdict.textContent;
    }
    const complete = summary.complete === true && !summary.lost && list(summary.incomplete_because).length === 0;
    for (const [value, name, kind] of [[events.length, 'events', ''], [counted.allowed, 'allowed', 'allowed'],
      [counted.denied, 'denied', counted.denied ? 'denied' : ''], [counted.failed, 'failed', counted.failed ? 'failed' : ''],
      ...(counted.unknown ? [[counted.unknown, 'unknown', 'denied']] : []),
      [lasted(number(summary.duration_us)), 'from start to end', ''],
      [complete ? 'complete' : 'not complete', complete ? 'every attempt that could be observed' : (summary.lost ? number(summary.lost) + ' events lost' : 'the last table says why'),
        complete ? 'allowed' : 'denied']]) {
      const card = make('div', 'stat ' + kind);
      card.append(make('b', '', String(value)), make('span', '', name));
      $('cards').append(card);
    }
    const facts = [['trace', trace.trace_id], ['began', trace.started], ['written by', trace.tool], ['format', trace.format],
      ...list(summary.incomplete_because).map((reason) => ['not complete because', reason]), ...Object.entries(trace.host ?? {})];
    for (const [name, fact] of facts.slice(0, MOST_ROWS)) $('facts').append(make('dt', '', shown(name)), make('dd', '', shown(fact)));
  }

  const TACTICS = ['reconnaissance', 'resource-development', 'initial-access', 'execution', 'persistence', 'privilege-escalation',
    'defense-evasion', 'credential-access', 'discovery', 'lateral-movement', 'collection', 'command-and-control', 'exfiltration', 'impact'];
  function matrix() {
    if (findings.length === 0) { $('matrix').append(make('p', 'soft', 'Nothing: no attempt fits a known attack.')); return; }
    const rank = (tactic) => (TACTICS.indexOf(tactic) + 99) % 99;
    const columns = [...new Set(findings.map((finding) => String(finding.mitre_tactic)))].sort((a, b) => rank(a) - rank(b));
    for (const tactic of columns.slice(0, MOST_ROWS)) {
      const column = make('div', 'tactic');
      column.append(make('h3', '', shown(tactic)));
      for (const finding of findings.filter((finding) => String(finding.mitre_tactic) === tactic)) column.append(cell(finding));
      $('matrix').append(column);
    }
  }
  function cell(finding) {
    const severity = word(finding.severity, SEVERITIES);
    const box = make('div', 'cell ' + severity);
    box.append(make('p', 'name', shown(finding.class).replaceAll('_', ' ')));
    const tags = make('p');
    tags.append(make('span', 'tag ' + severity, severity || 'unknown'), finding.unknown === true
      ? make('span', 'tag denied', 'unknown whether prevented') : finding.prevented === true
      ? make('span', 'tag allowed', 'prevented') : make('span', 'tag denied', 'not prevented'));
    box.append(tags, make('p', '', shown(finding.message)));
    for (const technique of list(finding.techniques).slice(0, 20)) {
      const line = make('p');
      const id = String(technique.id);
      // Only what is surely an id becomes an address.
      const name = /^T\d{4}(\.\d{3})?$/.test(id) ? make('a', 'mono', id) : make('span', 'mono', shown(id));
      if (name.tagName === 'A') {
        name.href = 'https://attack.mitre.org/techniques/' + id.replace('.', '/') + '/';
        name.rel = 'noreferrer noopener';
        name.target = '_blank';
      }
      line.append(name, ' ' + shown(technique.name));
      box.append(line);
    }
    const proof = make('p', 'mono', 'proved by ');
    for (const place of list(finding.evidence).slice(0, 24)) proof.append(button('#' + number(place), () => goTo(number(place))));
    if (list(finding.evidence).length > 24) proof.append(' and ' + (finding.evidence.length - 24) + ' more');
    box.append(proof);
    return box;
  }

  function tables() {
    const flows = new Map(), denied = new Map();
    for (const event of events) {
      const verdict = verdictOf(event);
      if (event.kind === 'net_connect') {
        const key = target(event) + ' ' + event.transport;
        const flow = flows.get(key) ?? { allowed: 0, denied: 0, failed: 0, unknown: 0, sent: 0, received: 0, reason: '', first: event.sequence };
        if (verdict) flow[verdict] += times(event);
        flow.sent += number(event.sent); flow.received += number(event.received);
        flow.reason = event.reason ?? flow.reason;
        flows.set(key, flow);
      }
      if (verdict === 'denied') {
        const key = kindOf(event) + '\0' + about(event);
        const row = denied.get(key) ?? { count: 0, event };
        row.count += times(event);
        denied.set(key, row);
      }
    }
    const flowRows = [...flows].sort((a, b) => b[1].denied - a[1].denied || b[1].sent - a[1].sent);
    table('network', [['destination'], ['allowed', 'n'], ['denied', 'n'], ['failed', 'n'], ['unknown', 'n'], ['sent', 'n'], ['received', 'n'], ['why'], ['first', 'n']],
      flowRows.map(([key, flow]) => [shown(key), figure(flow.allowed, 'allowed'), figure(flow.denied, 'denied'), figure(flow.failed, 'failed'), figure(flow.unknown, 'denied'),
        bytes(flow.sent), bytes(flow.received), shown(flow.reason), button('#' + number(flow.first), () => goTo(number(flow.first)))]),
      'No connection was tried.');
    const rows = [...denied.values()].sort((a, b) => b.count - a.count);
    table('denied', [['times', 'n'], ['kind', 'k'], ['what'], ['rule'], ['first', 'n']],
      rows.map((row) => [String(row.count), kindOf(row.event), about(row.event), shown(row.event.rule),
        button('#' + number(row.event.sequence), () => goTo(number(row.event.sequence)))]),
      'Nothing that was tried.');
  }

  function processes() {
    const nodes = new Map();
    for (const event of events) {
      if (!event.process) continue;
      const pid = number(event.process.pid);
      const node = nodes.get(pid) ?? { pid, name: processOf(event), binary: event.process.binary, events: 0, denied: 0, programs: [] };
      node.parent ??= event.process.parent;
      node.events += times(event);
      if (verdictOf(event) === 'denied') node.denied += times(event);
      if (event.kind === 'exec' && node.programs.length < 8) node.programs.push(event);
      nodes.set(pid, node);
    }
    const below = new Map();
    for (const node of nodes.values()) {
      const parent = nodes.has(node.parent) && node.parent !== node.pid ? node.parent : null;
      if (!below.has(parent)) below.set(parent, []);
      below.get(parent).push(node);
    }
    const place = $('processes'), done = new Set();
    // Those of a ring come last: nobody above them is a root.
    for (const root of [...(below.get(null) ?? []), ...nodes.values()]) {
      const waiting = [[root, 0]];
      while (waiting.length > 0 && done.size < MOST_ROWS) {
        const [node, depth] = waiting.pop();
        if (done.has(node.pid)) continue;
        done.add(node.pid);
        const line = make('div');
        line.style.paddingLeft = Math.min(depth, 20) * 18 + 'px';
        line.append(button(shown(node.binary ?? '?') + ' (' + node.pid + ')', () => { $('process').value = node.name; change(); $('events').scrollIntoView(); }),
          make('span', 'soft', node.events + ' events '));
        if (node.denied) line.append(make('span', 'tag denied', node.denied + ' denied'));
        place.append(line);
        for (const program of node.programs) {
          const exec = make('div', 'soft', (verdictOf(program) === 'denied' ? 'exec denied: ' : verdictOf(program) === 'unknown' ? 'exec, unknown whether denied: ' : 'exec ') + about(program));
          exec.style.paddingLeft = Math.min(depth, 20) * 18 + 22 + 'px';
          place.append(exec);
        }
        for (const child of (below.get(node.pid) ?? []).slice().reverse()) waiting.push([child, depth + 1]);
      }
    }
    if (nodes.size === 0) place.append(make('div', 'soft', 'No event names its process.'));
    if (nodes.size > done.size) place.append(make('div', 'soft', 'and ' + (nodes.size - done.size) + ' more'));
  }

  // The timeline: filters, a strip of all events by time, and a list that has elements only for what is in sight.
  let matching = [], picked = -1, range = null;
  const last = Math.max(1, events.reduce((most, event) => Math.max(most, number(event.elapsed_us)), number(summary.duration_us)));
  const haystacks = [];
  const haystack = (index) => (haystacks[index] ??= (about(events[index]) + ' ' + shown(events[index].rule) + ' ' + processOf(events[index])).toLowerCase());

  function options(id, values) {
    const select = $(id);
    select.append(new Option('all', ''));
    for (const value of [...values].sort().slice(0, 1000)) select.append(new Option(shown(value), value));
  }
  const FILTERS = ['text', 'kind', 'verdicts', 'process', 'class'];
  function unfilter() {
    range = null;
    for (const id of FILTERS) $(id).value = '';
  }
  function change() {
    const text = $('text').value.toLowerCase(), kind = $('kind').value, verdict = $('verdicts').value;
    const process = $('process').value, wanted = $('class').value;
    matching = [];
    for (let index = 0; index < events.length; index++) {
      const event = events[index];
      if (kind && kindOf(event) !== kind) continue;
      if (verdict && (verdictOf(event) || 'none') !== verdict) continue;
      if (process && processOf(event) !== process) continue;
      if (wanted && !(classesAt.get(event.sequence) ?? []).includes(wanted)) continue;
      if (range && (number(event.elapsed_us) < range[0] || number(event.elapsed_us) > range[1])) continue;
      if (text && !haystack(index).includes(text)) continue;
      matching.push(index);
    }
    $('count').textContent = matching.length + ' of ' + events.length + ' events';
    picked = -1;
    $('list').scrollTop = 0;
    draw();
    strip();
  }
  const height = () => Math.min(MOST_HEIGHT, matching.length * ROW);
  // Of a list too high for a browser, the place in it is a share of the height.
  function firstInSight() {
    const box = $('list');
    if (matching.length * ROW <= MOST_HEIGHT) return Math.floor(box.scrollTop / ROW);
    const share = box.scrollTop / Math.max(1, height() - box.clientHeight);
    return Math.floor(share * Math.max(0, matching.length - Math.floor(box.clientHeight / ROW)));
  }
  function draw() {
    const box = $('list'), rows = Math.ceil(box.clientHeight / ROW) + 4;
    const first = Math.max(0, Math.min(firstInSight(), matching.length - 1));
    $('spacer').style.height = height() + 'px';
    $('window').style.top = (matching.length * ROW <= MOST_HEIGHT ? first * ROW : box.scrollTop) + 'px';
    $('window').replaceChildren(...matching.slice(first, first + rows).map((index, offset) => line(index, first + offset)));
  }
  function line(index, at) {
    const event = events[index], verdict = verdictOf(event);
    const row = make('div', 'row' + (at === picked ? ' picked' : ''));
    row.setAttribute('role', 'option');
    row.append(make('span', 'soft', '#' + number(event.sequence)), make('span', 'soft', clock(event)),
      make('span', verdict, verdict.toUpperCase()), make('span', '', kindOf(event)), make('span', 'soft', shown(processOf(event))),
      make('span', '', aboutAll(event)));
    const tags = make('span');
    for (const name of classesAt.get(event.sequence) ?? []) tags.append(make('span', 'tag denied', shown(name).replaceAll('_', ' ')));
    row.append(tags);
    row.addEventListener('click', () => pick(at));
    return row;
  }
  function pick(at) {
    if (at < 0 || at >= matching.length) return;
    picked = at;
    const event = events[matching[at]], box = $('list');
    const top = matching.length * ROW <= MOST_HEIGHT ? at * ROW : (at / matching.length) * height();
    if (top < box.scrollTop || top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = Math.max(0, top - box.clientHeight / 2);
    draw();
    $('detail-title').textContent = '#' + number(event.sequence) + ' ' + kindOf(event) + ' ' + verdictOf(event);
    const facts = [['what', about(event)], ['when', shown(event.time)], ['after', lasted(number(event.elapsed_us))],
      ['process', shown(processOf(event))], ['rule', shown(event.rule)], ['times', times(event) > 1 ? String(times(event)) : ''],
      ['proves', shown((classesAt.get(event.sequence) ?? []).join(', '))]];
    $('detail-facts').replaceChildren(...facts.filter((fact) => fact[1] !== '').flatMap(([name, fact]) => [make('dt', '', name), make('dd', 'mono', fact)]));
    $('raw').textContent = JSON.stringify(event, null, 2).slice(0, 100000).split('\n').map(escape).join('\n');
    $('detail').hidden = false;
    document.body.classList.add('open');
  }
  function close() {
    $('detail').hidden = true;
    document.body.classList.remove('open');
  }
  function goTo(sequence) {
    unfilter();
    change();
    pick(matching.findIndex((index) => events[index].sequence === sequence));
    $('events').scrollIntoView();
  }

  // What an address asks for: page.html#verdict=denied&text=ssh, or page.html#event=12.
  function fromAddress() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    if (wanted.has('event')) { goTo(number(wanted.get('event'))); return; }
    unfilter();
    for (const [name, id] of [['text', 'text'], ['kind', 'kind'], ['verdict', 'verdicts'], ['process', 'process'], ['class', 'class']])
      $(id).value = wanted.get(name) ?? '';
    change();
  }

  function strip() {
    const canvas = $('strip'), width = (canvas.width = canvas.clientWidth || 800), tall = (canvas.height = 64);
    const pen = canvas.getContext('2d'), style = getComputedStyle(document.documentElement);
    const bins = Array.from({ length: Math.max(1, Math.floor(width / 4)) }, () => [0, 0, 0, 0]);
    const [from, to] = range ?? [0, last];
    for (const index of matching) {
      const share = (number(events[index].elapsed_us) - from) / Math.max(1, to - from);
      const bin = bins[Math.min(bins.length - 1, Math.max(0, Math.floor(share * bins.length)))];
      bin[Math.max(0, ['', 'allowed', 'failed', 'denied'].indexOf(verdictOf(events[index]).replace('unknown', 'denied')))] += 1;
    }
    const most = Math.max(1, ...bins.map((bin) => bin[0] + bin[1] + bin[2] + bin[3]));
    const colours = ['--other', '--allowed', '--failed', '--denied'].map((name) => style.getPropertyValue(name));
    pen.clearRect(0, 0, width, tall);
    bins.forEach((bin, index) => {
      let bottom = tall;
      for (const kind of [3, 2, 1, 0]) {
        if (bin[kind] === 0) continue;
        // The root, so that one denied attempt among thousands of lines is still seen.
        const high = Math.max(4, (Math.sqrt(bin[kind]) / Math.sqrt(most)) * (tall - 14));
        pen.fillStyle = colours[kind];
        pen.fillRect(index * 4, bottom - high, 3, high);
        bottom -= high;
      }
    });
    $('scale').replaceChildren(make('span', '', lasted(Math.round(from))), make('span', '', range ? 'double-click the strip for all of it' : 'drag over the strip to zoom'), make('span', '', lasted(Math.round(to))));
  }
  let dragFrom = null;
  const timeAt = (event) => {
    const [from, to] = range ?? [0, last];
    return from + (event.offsetX / Math.max(1, $('strip').clientWidth)) * (to - from);
  };

  function start() {
    header();
    matrix();
    tables();
    processes();
    options('kind', new Set(events.map(kindOf)));
    options('verdicts', new Set(['allowed', 'denied', 'failed', 'unknown', 'none']));
    options('process', new Set(events.map(processOf).filter(Boolean)));
    options('class', new Set(findings.map((finding) => String(finding.class))));
    for (const id of FILTERS) $(id).addEventListener('input', change);
    $('filters').addEventListener('submit', (event) => event.preventDefault());
    $('all').addEventListener('click', () => { unfilter(); change(); });
    $('list').addEventListener('scroll', draw);
    $('list').addEventListener('keydown', (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      pick(Math.max(0, Math.min(matching.length - 1, picked + step)));
    });
    $('close').addEventListener('click', close);
    document.addEventListener('keydown', (event) => { if (event.key === 'Escape') close(); });
    $('strip').addEventListener('mousedown', (event) => { dragFrom = timeAt(event); });
    $('strip').addEventListener('mouseup', (event) => {
      const to = timeAt(event);
      if (dragFrom !== null && Math.abs(to - dragFrom) > last / 1e5) { range = [Math.min(dragFrom, to), Math.max(dragFrom, to)]; change(); }
      dragFrom = null;
    });
    $('strip').addEventListener('dblclick', () => { range = null; change(); });
    addEventListener('resize', () => { draw(); strip(); });
    addEventListener('beforeprint', () => {
      const rows = matching.slice(0, MOST_PRINTED).map((index) => events[index]);
      $('print').replaceChildren();
      const body = $('print').createTBody();
      for (const event of rows) {
        const row = body.insertRow();
        for (const text of ['#' + number(event.sequence), clock(event), verdictOf(event).toUpperCase(), kindOf(event), aboutAll(event)]) row.insertCell().textContent = text;
      }
      if (matching.length > rows.length) body.insertRow().insertCell().textContent = 'and ' + (matching.length - rows.length) + ' more';
    });
    addEventListener('afterprint', () => $('print').replaceChildren());
    addEventListener('hashchange', fromAddress);
    fromAddress();
    document.documentElement.dataset.ready = String(events.length);
  }
  try { start(); } catch (error) {
    $('failure').hidden = false;
    $('failure').textContent = 'This trace could not be shown: ' + shown(error.message);
    throw error;
  }
})();
