//! What the functions of libraries do, by their names: which read, which pass a value on, which decode, run or write.

use std::ops::Range;
use std::rc::Rc;

use data_encoding::{BASE32, BASE64, BASE64_NOPAD, BASE64URL, HEXLOWER_PERMISSIVE};

use crate::code::capability::Capability;
use crate::code::interpret::{Arguments, Interpreter, OriginKind, is_environment, plain_module};
use crate::code::network::{SendKind, is_connection};
use crate::code::objects::{classify_path, is_env_file, is_secret_variable};
use crate::code::value::{Object, Origins, UNKNOWN, Value, extend_symbol};

/// What a function of a library does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LibraryModel {
    /// Gives a module by its name.
    Import,
    /// Gives a field by its name.
    Field,
    /// Opens a file, to read or to write.
    Open,
    /// Reads a file.
    Read,
    /// Writes a file.
    Write,
    /// Puts a file elsewhere.
    Copy,
    /// Deletes.
    Delete,
    /// Gives paths below a path.
    List,
    /// Goes through all folders below one.
    Walk,
    /// Reads a variable of the environment.
    Variable,
    /// Gives all of the environment.
    Environment,
    /// Reads a file of variables.
    EnvFile,
    /// Gives back what it is given.
    Same,
    /// The user's home.
    Home,
    /// Puts paths together.
    JoinPath,
    /// Writes the same in other letters.
    Encode,
    /// Reads what is written in other letters.
    Decode,
    /// Numbers as letters.
    Letters,
    /// Nothing of what it is given is in what it gives.
    Digest,
    /// Enciphers.
    Encrypt,
    /// Starts a program.
    Run,
    /// Runs a text as code.
    Execute,
    /// Reads a store, a screen, a clipboard.
    Source(Capability),
    /// Accepts connections.
    Listen,
    /// A promise, by what resolves it.
    Promise,
    /// What resolves it.
    Resolve,
    /// A function with some arguments.
    Partial,
    /// Formats with `%`.
    Format,
    /// Makes an archive, to put files into.
    Archive,
    /// Packs a folder.
    Pack,
    /// A file in memory.
    Buffer,
    /// Puts one open file in the place of another.
    Duplicate,
    /// Sets a field by its name.
    SetField,
}

/// Whether something is known of a thing of a library.
pub(crate) fn is_known_symbol(symbol: &str) -> bool {
    find_model(symbol).is_some() || SendKind::find(symbol).is_some()
}

/// What a function does, by its whole name.
fn find_model(symbol: &str) -> Option<LibraryModel> {
    use LibraryModel as M;
    let model = match symbol {
        "__import__"
        | "importlib.import_module"
        | "importlib.__import__"
        | "require"
        | "import"
        | "module.createRequire()"
        | "createRequire()" => M::Import,
        "getattr" | "Reflect.get" | "operator.getitem" => M::Field,
        "open" | "io.open" | "codecs.open" | "aiofiles.open" | "gzip.open" | "bz2.open" | "lzma.open"
        | "os.open" | "os.fdopen" => M::Open,
        "fs.readFileSync"
        | "fs.readFile"
        | "fs.createReadStream"
        | "fs.openSync"
        | "fs.open"
        | "fs.readJson"
        | "fs.readJsonSync"
        | "fs-extra.readFileSync"
        | "fs-extra.readFile"
        | "fs-extra.readJson"
        | "Bun.file"
        | "Deno.readTextFile"
        | "Deno.readFile"
        | "Deno.readTextFileSync"
        | "Deno.readFileSync"
        | "sqlite3.connect"
        | "sqlite3.Database"
        | "better-sqlite3"
        | "np.loadtxt"
        | "pd.read_csv"
        | "pandas.read_csv"
        | "linecache.getlines"
        | "fileinput.input"
        | "mmap.mmap"
        | "shelve.open"
        | "json5.load"
        | "netrc.netrc"
        | "dbm.open"
        | "aiosqlite.connect"
        | "fs.openAsBlob"
        | "fs.readv" => M::Read,
        "fs.writeFileSync"
        | "fs.writeFile"
        | "fs.appendFileSync"
        | "fs.appendFile"
        | "fs.createWriteStream"
        | "fs-extra.writeFile"
        | "fs-extra.outputFile"
        | "fs-extra.writeFileSync"
        | "fs-extra.outputFileSync"
        | "fs-extra.writeJson"
        | "Deno.writeTextFile"
        | "Deno.writeFile"
        | "Deno.writeTextFileSync"
        | "Bun.write" => M::Write,
        "shutil.copy" | "shutil.copy2" | "shutil.copyfile" | "shutil.move" | "shutil.copytree"
        | "os.rename" | "os.replace" | "os.symlink" | "os.link" | "fs.copyFileSync" | "fs.copyFile"
        | "fs.renameSync" | "fs.rename" | "fs.cpSync" | "fs.cp" | "fs.symlinkSync" | "fs.symlink" => M::Copy,
        "os.remove"
        | "os.unlink"
        | "os.rmdir"
        | "shutil.rmtree"
        | "os.removedirs"
        | "os.truncate"
        | "fs.rmSync"
        | "fs.rm"
        | "fs.unlinkSync"
        | "fs.unlink"
        | "fs.rmdirSync"
        | "fs.rmdir"
        | "rimraf"
        | "rimraf.sync"
        | "fs.removeSync"
        | "fs-extra.removeSync"
        | "fs-extra.remove"
        | "Deno.remove" => M::Delete,
        "glob.glob" | "glob.iglob" | "os.scandir" | "glob.sync" | "fast-glob" | "fast-glob.sync"
        | "globby" | "glob" => M::List,
        "os.walk" | "os.fwalk" | "walkdir" => M::Walk,
        "os.getenv"
        | "os.environ.get"
        | "os.environ.pop"
        | "os.environ.setdefault"
        | "os.environ.__getitem__"
        | "os.getenvb"
        | "Deno.env.get"
        | "decouple.config" => M::Variable,
        "os.environ.items"
        | "os.environ.copy"
        | "os.environ.values"
        | "os.environ.keys"
        | "os.environ.__iter__"
        | "Deno.env.toObject"
        | "psutil.Process().environ" => M::Environment,
        "dotenv.dotenv_values" | "dotenv.parse" => M::EnvFile,
        "os.path.expanduser"
        | "os.path.abspath"
        | "os.path.realpath"
        | "os.path.normpath"
        | "os.path.expandvars"
        | "path.normalize"
        | "pathlib.Path"
        | "Path"
        | "pathlib.PurePath"
        | "pathlib.PosixPath"
        | "str"
        | "String"
        | "bytes"
        | "bytearray"
        | "list"
        | "tuple"
        | "set"
        | "sorted"
        | "iter"
        | "next"
        | "reversed"
        | "Promise.resolve"
        | "Promise.all"
        | "asyncio.run"
        | "asyncio.gather"
        | "Array.from"
        | "Blob"
        | "File"
        | "structuredClone"
        | "copy.copy"
        | "copy.deepcopy"
        | "Object.freeze"
        | "URL"
        | "untildify"
        | "memoryview"
        | "util.promisify"
        | "asyncio.create_task"
        | "asyncio.wait_for"
        | "frozenset"
        | "repr"
        | "url.fileURLToPath"
        | "enumerate"
        | "zip"
        | "functools.wraps"
        | "asyncio.to_thread"
        | "os.fsencode"
        | "os.fsdecode"
        | "os.fspath"
        | "Buffer.concat"
        | "string.String"
        | "textwrap.dedent" => M::Same,
        "pathlib.Path.home"
        | "Path.home"
        | "os.homedir"
        | "os.userInfo().homedir"
        | "homedir"
        | "os.getHomeDir" => M::Home,
        "os.path.join"
        | "path.join"
        | "path.resolve"
        | "path.posix.join"
        | "path.win32.join"
        | "posixpath.join"
        | "ntpath.join"
        | "urllib.parse.urljoin"
        | "urljoin" => M::JoinPath,
        "json.dumps"
        | "JSON.stringify"
        | "base64.b64encode"
        | "base64.urlsafe_b64encode"
        | "base64.b32encode"
        | "base64.b16encode"
        | "base64.b85encode"
        | "base64.a85encode"
        | "base64.encodebytes"
        | "base64.standard_b64encode"
        | "binascii.hexlify"
        | "binascii.b2a_base64"
        | "binascii.b2a_hex"
        | "zlib.compress"
        | "gzip.compress"
        | "bz2.compress"
        | "lzma.compress"
        | "urllib.parse.quote"
        | "urllib.parse.quote_plus"
        | "urllib.parse.urlencode"
        | "encodeURIComponent"
        | "encodeURI"
        | "escape"
        | "btoa"
        | "hex"
        | "pickle.dumps"
        | "yaml.dump"
        | "yaml.safe_dump"
        | "codecs.encode"
        | "zlib.gzipSync"
        | "zlib.deflateSync"
        | "zlib.brotliCompressSync"
        | "querystring.stringify"
        | "qs.stringify"
        | "json.loads"
        | "JSON.parse"
        | "json.load"
        | "yaml.safe_load"
        | "yaml.load"
        | "tomllib.load"
        | "tomllib.loads"
        | "toml.load"
        | "toml.loads"
        | "URLSearchParams"
        | "Object.fromEntries"
        | "FormData"
        | "form-data"
        | "json.JSONEncoder().encode"
        | "email.mime.text.MIMEText"
        | "MIMEText"
        | "email.mime.base.MIMEBase"
        | "email.mime.application.MIMEApplication"
        | "urllib.parse.unquote"
        | "quote"
        | "struct.pack"
        | "xmlrpc.client.Binary"
        | "uuencode"
        | "binascii.b2a_uu"
        | "csv.writer"
        | "dict"
        | "Object.entries"
        | "Object.values"
        | "Object.keys"
        | "Object.assign"
        | "TextEncoder().encode"
        | "collections.OrderedDict"
        | "int.from_bytes"
        | "ord"
        | "superjson.stringify"
        | "util.inspect"
        | "pprint.pformat"
        | "msgpack.packb"
        | "Uint8Array" => M::Encode,
        "base64.b64decode"
        | "base64.urlsafe_b64decode"
        | "base64.b32decode"
        | "base64.b16decode"
        | "base64.b85decode"
        | "base64.a85decode"
        | "base64.decodebytes"
        | "base64.standard_b64decode"
        | "binascii.unhexlify"
        | "binascii.a2b_hex"
        | "binascii.a2b_base64"
        | "bytes.fromhex"
        | "bytearray.fromhex"
        | "codecs.decode"
        | "zlib.decompress"
        | "gzip.decompress"
        | "bz2.decompress"
        | "lzma.decompress"
        | "marshal.loads"
        | "atob"
        | "unescape"
        | "decodeURIComponent"
        | "zlib.inflateSync"
        | "zlib.gunzipSync"
        | "pickle.loads"
        | "Buffer.from"
        | "js-base64.decode" => M::Decode,
        "chr" | "String.fromCharCode" | "String.fromCodePoint" => M::Letters,
        "len" | "bool" | "int" | "float" | "type" | "isinstance" | "hash" | "id" | "print"
        | "console.log" | "any" | "all" | "sum" | "min" | "max" | "jwt.encode" | "jwt.sign"
        | "jsonwebtoken.sign" | "os.path.exists" | "os.path.isfile" | "os.path.isdir" | "os.path.getsize"
        | "os.stat" | "fs.existsSync" | "fs.statSync" | "Boolean" | "Number" | "console.error"
        | "parseInt" | "sys.exit" | "process.exit" | "os.path.basename" | "logging.info" | "range"
        | "re.compile" | "Array.isArray" | "hasattr" | "callable" | "fs.accessSync" | "fs.mkdirSync"
        | "os.makedirs" | "os.chmod" | "os.access" => M::Digest,
        "exec"
        | "eval"
        | "compile"
        | "Function"
        | "execfile"
        | "vm.runInThisContext"
        | "vm.runInNewContext"
        | "vm.runInContext"
        | "vm.Script"
        | "runpy.run_path"
        | "vm.compileFunction"
        | "AsyncFunction"
        | "execScript"
        | "module._compile"
        | "builtins.exec"
        | "code.InteractiveInterpreter().runcode" => M::Execute,
        "pyperclip.paste"
        | "clipboardy.read"
        | "clipboardy.readSync"
        | "navigator.clipboard.readText"
        | "PIL.ImageGrab.grabclipboard"
        | "ImageGrab.grab"
        | "PIL.ImageGrab.grab"
        | "pyautogui.screenshot"
        | "pynput.keyboard.Listener"
        | "keyboard.Listener"
        | "keyboard.record"
        | "keyboard.on_press"
        | "keyboard.hook"
        | "mss.mss"
        | "screenshot-desktop"
        | "cv2.VideoCapture"
        | "sounddevice.rec"
        | "tkinter.Tk().clipboard_get" => M::Source(Capability::RecordsUser),
        "browser_cookie3.chrome"
        | "browser_cookie3.firefox"
        | "browser_cookie3.load"
        | "browser_cookie3.edge"
        | "browsercookie.chrome"
        | "rookiepy.chrome"
        | "rookiepy.load"
        | "win32crypt.CryptUnprotectData"
        | "pycookiecheat.chrome_cookies" => M::Source(Capability::ReadsBrowserData),
        "keyring.get_password" | "keyring.get_credential" | "keytar.getPassword" | "keytar.findPassword" => {
            M::Source(Capability::ReadsNamedSecret)
        }
        "keytar.findCredentials" | "secretstorage.get_all_items" | "win32cred.CredEnumerate" => {
            M::Source(Capability::ReadsKeychain)
        }
        "tarfile.open"
        | "zipfile.ZipFile"
        | "tarfile.TarFile"
        | "archiver"
        | "adm-zip"
        | "jszip"
        | "pyzipper.AESZipFile" => M::Archive,
        "shutil.make_archive" => M::Pack,
        "io.BytesIO" | "io.StringIO" => M::Buffer,
        "os.dup2" => M::Duplicate,
        "setattr" | "Reflect.set" => M::SetField,
        "Promise" => M::Promise,
        "%resolve" => M::Resolve,
        "functools.partial" | "partial" => M::Partial,
        "%format" => M::Format,
        _ => return find_by_parts(symbol),
    };
    Some(model)
}

/// What a function does, by the first and the last part of its name.
fn find_by_parts(symbol: &str) -> Option<LibraryModel> {
    use LibraryModel as M;
    let root = symbol.split(['.', '(']).next().unwrap_or(symbol);
    let last = symbol.rsplit('.').next().unwrap_or(symbol);
    match (root, last) {
        ("bun", "$") => Some(M::Run),
        (
            "subprocess" | "child_process" | "execa" | "shelljs" | "cross-spawn" | "pexpect" | "plumbum"
            | "zx" | "commands",
            last,
        ) => {
            let starts = !last.ends_with(')')
                && !matches!(
                    last,
                    "PIPE"
                        | "DEVNULL"
                        | "STDOUT"
                        | "communicate"
                        | "wait"
                        | "poll"
                        | "kill"
                        | "on"
                        | "toString"
                        | "trim"
                );
            (starts && !symbol.contains("()")).then_some(M::Run)
        }
        ("os", "system" | "popen" | "popen2" | "popen3" | "startfile" | "posix_spawn")
        | ("pty" | "Bun", "spawn" | "spawnSync" | "$")
        | ("asyncio", "create_subprocess_shell" | "create_subprocess_exec")
        | ("Deno", "Command" | "run") => Some(M::Run),
        ("os", last) if last.starts_with("exec") || last.starts_with("spawn") => Some(M::Run),
        ("hashlib" | "hmac", _) => Some(M::Digest),
        ("crypto", "createHash" | "createHmac" | "randomBytes" | "randomUUID") => Some(M::Digest),
        ("crypto", "createCipheriv" | "publicEncrypt" | "createCipher")
        | ("cryptography" | "Crypto" | "nacl" | "Fernet", "encrypt" | "update" | "final") => Some(M::Encrypt),
        (
            _,
            "createServer" | "HTTPServer" | "TCPServer" | "ThreadingHTTPServer" | "start_server" | "listen",
        ) => Some(M::Listen),
        _ => None,
    }
}

impl Interpreter<'_, '_> {
    /// Calls a thing of a library.
    pub(crate) fn call_symbol(
        &mut self,
        symbol: &str,
        receiver: Option<&Value>,
        given: &Arguments,
        range: Range<usize>,
    ) -> Value {
        // `f.call(this, a)`, `f.bind(this)`.
        for way in [".call", ".apply", ".bind"] {
            if let Some(inner) = symbol.strip_suffix(way)
                && find_model(inner).is_some()
            {
                let positional = given.positional.iter().skip(1).cloned().collect();
                if way == ".bind" {
                    return Value::symbol(inner);
                }
                return self.call_symbol(
                    inner,
                    receiver,
                    &Arguments { positional, named: Vec::new() },
                    range,
                );
            }
        }
        if symbol == "%partial" {
            return self.call_partial(receiver, given, range);
        }
        if let Some(model) = find_model(symbol) {
            return self.apply_model(model, symbol, given, range);
        }
        if let Some(kind) = SendKind::find(symbol) {
            return self.send(kind, symbol, receiver, given, range);
        }
        if let Some(method) = symbol.rsplit_once('.').map(|(_, last)| last)
            && let Some(value) = self.call_common(receiver.unwrap_or(&Value::default()), method, given, range)
        {
            return value;
        }
        let mut value = self.call_unknown(&Value::default(), given);
        if let Some(receiver) = receiver {
            value.origins.add(&receiver.origins);
            if symbol.starts_with('%')
                || receiver.symbol.as_deref().is_some_and(|symbol| symbol.starts_with("email"))
            {
                value.origins.add(&self.heap.deep_origins(receiver));
            }
        }
        value.symbol = Some(format!("{symbol}()").into());
        value
    }

    fn apply_model(
        &mut self,
        model: LibraryModel,
        symbol: &str,
        given: &Arguments,
        range: Range<usize>,
    ) -> Value {
        let first = given
            .positional
            .first()
            .cloned()
            .or_else(|| given.named.first().map(|(_, value)| value.clone()))
            .unwrap_or_default();
        match model {
            LibraryModel::Import => {
                let Some(name) = first.known_text() else { return Value::default() };
                self.load_module(name).unwrap_or_else(|| Value::symbol(plain_module(name)))
            }
            LibraryModel::Field => {
                let key = given.positional.get(1).cloned().unwrap_or_default();
                match key.known_text() {
                    Some(name) => self.attribute(&first, &name.to_owned(), range),
                    None => Value::made_of(first.origins),
                }
            }
            LibraryModel::Open => self.open_file(&first, given.get(1, "mode"), range),
            LibraryModel::Read => {
                let origins = self.read_path(&first, range);
                let read = Value::made_of(origins);
                self.call_back(given, &read);
                read
            }
            LibraryModel::Write => {
                let content = given.positional.get(1).cloned().unwrap_or_default();
                self.write_path(&first, &content, range);
                Value { symbol: Some("%written".into()), texts: first.texts, ..Value::default() }
            }
            LibraryModel::Copy => {
                let origins = self.read_path(&first, range.clone());
                let to = given.positional.get(1).cloned().unwrap_or_default();
                self.write_path(&to, &Value::made_of(origins), range);
                to
            }
            LibraryModel::Delete => {
                self.delete_path(&first, range);
                Value::default()
            }
            LibraryModel::List => first,
            LibraryModel::Walk => {
                let mut below = first;
                below.concat(&Value::text("**"), "/");
                let names = Value::text(UNKNOWN);
                let entry = self.make_list(vec![below, names.clone(), names]);
                self.make_list(vec![entry])
            }
            LibraryModel::Variable => {
                let mut value = self.read_variable(&first, range);
                if let Some(default) = given.positional.get(1).or_else(|| given.named("default")) {
                    value.join(default);
                }
                value
            }
            LibraryModel::Environment => {
                self.note(Capability::ReadsEnvironment, range.clone(), "the environment");
                Value::made_of(self.whole_environment(range))
            }
            LibraryModel::EnvFile => {
                let path = if first.texts.is_empty() { Value::text(".env") } else { first };
                Value::made_of(self.read_path(&path, range))
            }
            LibraryModel::Same => {
                self.call_back(given, &first);
                let mut same = first;
                for other in given.positional.iter().skip(1) {
                    same.origins.add(&self.heap.deep_origins(other));
                    same.function = same.function.or(other.function);
                }
                same
            }
            LibraryModel::Home => Value::text("~"),
            LibraryModel::JoinPath => {
                let mut path = first;
                for part in given.positional.iter().skip(1) {
                    path.concat(part, "/");
                }
                path
            }
            LibraryModel::Encode => {
                let mut origins = Origins::default();
                let mut made = Value::default();
                for value in given.all() {
                    origins.add(&self.heap.deep_origins(value));
                    made.object = made.object.or(value.object);
                }
                // What is in it can still be told apart by its keys.
                Value {
                    origins: if made.object.is_some() && !symbol.contains("dump") {
                        first.origins
                    } else {
                        origins
                    },
                    ..made
                }
            }
            LibraryModel::Decode => self.decode(symbol, &first, given, range),
            LibraryModel::Letters => {
                let letters: Option<String> = given
                    .positional
                    .iter()
                    .map(|value| value.known_text()?.parse::<u32>().ok().and_then(char::from_u32))
                    .collect();
                let origins = self.origin(OriginKind::DecodedLiteral, "character codes", range);
                match letters {
                    Some(text) => Value::text(text).with_origins(&origins),
                    None => Value::made_of(origins),
                }
            }
            LibraryModel::Digest => {
                self.call_back(given, &Value::default());
                Value::default()
            }
            LibraryModel::Encrypt => {
                let mut origins = self.origin(OriginKind::Encrypted, symbol, range);
                given.all().for_each(|value| origins.add(&self.heap.deep_origins(value)));
                Value::made_of(origins)
            }
            LibraryModel::Run => self.run_program(symbol, given, range),
            LibraryModel::Execute => self.execute_text(symbol, given, range),
            LibraryModel::Source(capability) => {
                let object =
                    if capability == Capability::ReadsNamedSecret { first.first_text() } else { symbol };
                let read = Value::made_of(self.origin(OriginKind::Secret(capability), object, range));
                self.call_back(given, &read);
                read
            }
            LibraryModel::Listen => {
                self.note(Capability::ListensOnNetwork, range, symbol);
                self.call_back(given, &Value::default());
                Value::symbol(format!("{symbol}()"))
            }
            LibraryModel::Promise => {
                let before = std::mem::take(&mut self.resolved);
                if let Some(function) = first.function {
                    let resolve = Value::symbol("%resolve");
                    self.call_function(
                        function,
                        &Arguments { positional: vec![resolve.clone(), resolve], named: Vec::new() },
                    );
                }
                std::mem::replace(&mut self.resolved, before)
            }
            LibraryModel::Resolve => {
                self.resolved.join(&first);
                Value::default()
            }
            LibraryModel::Partial => {
                let values = given.positional.clone();
                let list = self.make_list(values);
                if let Some(id) = list.object {
                    for (name, value) in &given.named {
                        self.set_field(id, name, value.clone(), false);
                    }
                }
                Value { symbol: Some("%partial".into()), ..list }
            }
            LibraryModel::Archive => {
                let kept = given.named("fileobj").cloned().unwrap_or_else(|| first.clone());
                let mut archive =
                    Value { symbol: Some("%archive".into()), texts: first.texts, ..Value::default() };
                archive.object = kept.object;
                self.heap.object_of(&mut archive);
                // What is read from one comes out of it.
                archive.origins =
                    self.read_path(&Value { texts: archive.texts.clone(), ..Value::default() }, range);
                archive
            }
            LibraryModel::Pack => {
                let folder = given.get(2, "root_dir").cloned().unwrap_or_default();
                let origins = self.read_path(&folder, range);
                let mut path = Value::made_of(origins);
                path.texts = first.texts;
                path.concat(&Value::text(UNKNOWN), "");
                path
            }
            LibraryModel::Buffer => {
                let origins = self.heap.deep_origins(&first);
                let mut buffer = Value::default();
                let id = self.heap.object_of(&mut buffer);
                if let Some(object) = self.heap.get_mut(id) {
                    object.rest = Value { texts: first.texts, ..Value::made_of(origins) };
                }
                buffer
            }
            LibraryModel::SetField => {
                if let (Some(id), [_, key, value, ..]) = (first.object, given.positional.as_slice()) {
                    self.set_item(id, key, value.clone());
                }
                Value::default()
            }
            LibraryModel::Duplicate => {
                if given.all().any(|value| value.symbol.as_deref().is_some_and(is_connection)) {
                    self.note(
                        Capability::OpensRemoteShell,
                        range,
                        "a connection in the place of the terminal",
                    );
                }
                Value::default()
            }
            LibraryModel::Format => {
                let mut made = first.clone();
                let values = given.positional.get(1).cloned().unwrap_or_default();
                made.texts = first.texts.iter().map(|text| fill_percent(text).into()).collect();
                made.origins.add(&self.heap.deep_origins(&values));
                made
            }
        }
    }

    /// Calls a function that has some of its arguments already.
    fn call_partial(&mut self, receiver: Option<&Value>, given: &Arguments, range: Range<usize>) -> Value {
        let Some(id) = receiver.and_then(|receiver| receiver.object) else { return Value::default() };
        let mut values = self.list_values(id).into_iter();
        let Some(called) = values.next() else { return Value::default() };
        let fields = self.heap.get(id).map(|object| object.fields.clone()).unwrap_or_default();
        let named = fields.into_iter().filter(|(key, _)| key.parse::<u32>().is_err());
        let all = Arguments {
            positional: values.chain(given.positional.iter().cloned()).collect(),
            named: named.chain(given.named.iter().cloned()).collect(),
        };
        self.call_value(&called, &all, range)
    }

    /// Calls every function among the arguments with a value: callbacks.
    pub(crate) fn call_back(&mut self, given: &Arguments, value: &Value) -> Value {
        let mut results = Value::default();
        let functions: Vec<_> = given.all().filter_map(|argument| argument.function).collect();
        for function in functions.into_iter().take(4) {
            let mut positional = vec![value.clone(), value.clone()];
            positional.extend(given.positional.iter().filter(|other| other.function.is_none()).cloned());
            self.is_callback = true;
            let result = self.call_function(function, &Arguments { positional, named: Vec::new() });
            self.is_callback = false;
            results.join(&result);
        }
        results
    }

    /// Calls something that is not known: secrets may be in what it gives, and in what it was called on.
    pub(crate) fn call_unknown(&mut self, called: &Value, given: &Arguments) -> Value {
        let mut value = Value::made_of(called.origins.clone());
        let mut strong = Origins::default();
        for argument in &given.positional {
            let all = self.heap.deep_origins(argument);
            strong.add(&self.of_kind(&all, |kind| {
                matches!(kind, OriginKind::Secret(capability) if capability != Capability::ReadsNamedSecret)
            }));
        }
        value.origins.add(&strong);
        if let Some(object) = called.object.and_then(|id| self.heap.get_mut(id)) {
            object.rest.origins.add(&strong);
            value.origins.add(&object.rest.origins.clone());
        }
        // A thread, a task, a timer: what it starts is called.
        let target = given.named("target").or_else(|| given.named("func"));
        if let Some(function) = target.and_then(|target| target.function) {
            let arguments = given.named("args").cloned().unwrap_or_default();
            let element = self.element_of(&arguments);
            let listed = arguments
                .object
                .and_then(|id| self.heap.get(id))
                .map(|object| object.fields.clone())
                .unwrap_or_default();
            let mut positional: Vec<_> = listed.into_values().collect();
            if positional.is_empty() {
                positional.push(element);
            }
            self.call_function(function, &Arguments { positional, named: Vec::new() });
            return value;
        }
        let functions = given.positional.iter().any(|argument| argument.function.is_some());
        if functions {
            let mut carried = self.element_of(called);
            carried.join(&value);
            let others: Vec<_> =
                given.positional.iter().filter(|other| other.function.is_none()).cloned().collect();
            for other in &others {
                let element = self.element_of(other);
                carried.join(&element);
            }
            let positional: Vec<_> =
                given.positional.iter().filter(|argument| argument.function.is_some()).cloned().collect();
            let results = self.call_back(&Arguments { positional, named: Vec::new() }, &carried);
            value.join(&results);
        }
        value
    }

    /// Methods that plain values have.
    pub(crate) fn call_method(
        &mut self,
        receiver: &Value,
        name: &str,
        given: &Arguments,
        range: Range<usize>,
    ) -> Value {
        if receiver.symbol.as_deref() == Some("%partial") && matches!(name, "__call__") {
            return self.call_unknown(receiver, given);
        }
        let is_awaited = matches!(name, "then" | "catch" | "finally");
        if let Some(symbol) = &receiver.symbol
            && !is_awaited
            && let Some(symbol) = extend_symbol(symbol, name)
        {
            return self.call_symbol(&symbol, Some(receiver), given, range);
        }
        if let Some(function) = receiver.function {
            // `f.call(this, a)`.
            if matches!(name, "call" | "apply") {
                let positional = given.positional.iter().skip(1).cloned().collect();
                return self.call_function(function, &Arguments { positional, named: Vec::new() });
            }
            if name == "bind" {
                return receiver.clone();
            }
        }
        if let Some(value) = self.call_common(receiver, name, given, range.clone()) {
            return value;
        }
        if let Some(kind) = SendKind::of_method(name) {
            return self.send(kind, name, Some(receiver), given, range);
        }
        self.call_unknown(receiver, given)
    }

    /// Reads a variable of the environment.
    pub(crate) fn read_variable(&mut self, key: &Value, range: Range<usize>) -> Value {
        let mut value = Value::default();
        for name in key.texts.clone() {
            if matches!(&*name, "HOME" | "USERPROFILE" | "HOMEPATH") {
                value.join(&Value::text("~"));
            } else if !name.contains('*') {
                value.join(&Value::text(format!("${{{name}}}")));
                if is_secret_variable(&name) {
                    let origins =
                        self.origin(OriginKind::Secret(Capability::ReadsNamedSecret), &name, range.clone());
                    value.origins.add(&origins);
                }
            }
        }
        if key.texts.is_empty() || key.texts.iter().any(|text| text.contains('*')) {
            let inner =
                self.of_kind(&key.origins, |kind| kind == OriginKind::Secret(Capability::ReadsEnvironment));
            value.origins.add(&inner);
        }
        value
    }

    /// The whole environment, read at a place.
    pub(crate) fn whole_environment(&mut self, range: Range<usize>) -> Origins {
        self.origin(OriginKind::Secret(Capability::ReadsEnvironment), "the environment", range)
    }

    /// `a[b]`.
    pub(crate) fn item(&mut self, object: &Value, key: &Value, range: Range<usize>) -> Value {
        if let Some(symbol) = object.symbol.as_deref() {
            if is_environment(symbol) {
                return self.read_variable(key, range);
            }
            if let Some(name) = key.known_text() {
                if symbol == "sys.modules" {
                    return Value::symbol(name);
                }
                if object.object.is_none()
                    && (symbol.contains('(') || name.bytes().next().is_some_and(|b| b.is_ascii_digit()))
                {
                    // An element of what a library gave.
                    return Value {
                        symbol: Some(symbol.into()),
                        ..Value::made_of(self.narrow(&object.origins, name, range))
                    };
                }
                return self.attribute(object, &name.to_owned(), range);
            }
        }
        let Some(name) = key.known_text().map(str::to_owned) else {
            let mut element = self.element_of(object);
            element.texts.clear();
            if let Some(fields) =
                object.object.and_then(|id| self.heap.get(id)).map(|object| object.fields.clone())
            {
                fields.values().for_each(|field| element.join(field));
            }
            return element;
        };
        if let Some(field) = object.object.and_then(|id| self.heap.field(id, &name)) {
            return field.clone();
        }
        let is_number = name.parse::<i64>().is_ok();
        let mut part = if is_number { self.element_of(object) } else { Value::default() };
        let mut origins = object.origins.clone();
        if let Some(rest) = object.object.and_then(|id| self.heap.get(id)).map(|object| object.rest.clone()) {
            origins.add(&rest.origins);
            if !is_number {
                part.join(&Value { origins: Origins::default(), ..rest });
            }
        }
        part.origins = if is_number { origins } else { self.narrow(&origins, &name, range) };
        part
    }

    /// What is left of some origins in the part of a name: one key of many is that key, and not all of them.
    pub(crate) fn narrow(&mut self, origins: &Origins, name: &str, range: Range<usize>) -> Origins {
        let mut narrowed = Origins::default();
        for id in origins.iter() {
            let Some(origin) = self.origins.get(usize::from(id)).cloned() else { continue };
            let is_many = match origin.kind {
                OriginKind::Secret(
                    Capability::ReadsEnvironment | Capability::ReadsAgentData | Capability::ReadsNamedSecret,
                ) => true,
                OriginKind::Secret(Capability::ReadsCredentials) => is_env_file(&origin.object),
                _ => false,
            };
            if !is_many {
                narrowed.add(&Origins::one(id));
            } else if is_secret_variable(name) {
                let part = self.origin(OriginKind::Secret(Capability::ReadsNamedSecret), name, range.clone());
                narrowed.add(&part);
            }
        }
        narrowed
    }

    /// What a file holds, by its path.
    pub(crate) fn read_path(&mut self, path: &Value, range: Range<usize>) -> Origins {
        let mut origins = self.of_kind(&path.origins, |kind| matches!(kind, OriginKind::Secret(_)));
        for text in path.texts.clone() {
            if let Some(capability) = classify_path(&text) {
                let origin = self.origin(OriginKind::Secret(capability), &text, range.clone());
                origins.add(&origin);
            }
            if let Some(written) = self.disk.get(&*text) {
                origins.add(&written.clone());
            }
        }
        origins
    }

    fn open_file(&mut self, path: &Value, mode: Option<&Value>, range: Range<usize>) -> Value {
        let mode = mode.map(|mode| mode.first_text().to_owned()).unwrap_or_default();
        let is_written = mode.contains(['w', 'a', 'x', '+']) && mode.len() <= 4;
        if is_written {
            self.write_path(path, &Value::default(), range);
            return Value { symbol: Some("%written".into()), texts: path.texts.clone(), ..Value::default() };
        }
        let mut file = Value::made_of(self.read_path(path, range));
        if file.origins.is_empty() {
            file.symbol = Some("%file".into());
        }
        file
    }

    /// Undoes an encoding.
    fn decode(&mut self, symbol: &str, first: &Value, given: &Arguments, range: Range<usize>) -> Value {
        let way = given.positional.get(1).and_then(|way| way.known_text()).unwrap_or_default();
        // `Buffer.from(text)` and `codecs.decode(text)` in plain letters.
        if symbol == "Buffer.from" && !matches!(way, "base64" | "hex" | "base64url") {
            return first.clone();
        }
        let texts: Vec<Rc<str>> =
            first.texts.iter().filter_map(|text| decode_text(symbol, way, text)).map(Rc::from).collect();
        let is_literal = first.known_text().is_some_and(|text| text.len() >= 12);
        let kind = if is_literal { OriginKind::DecodedLiteral } else { OriginKind::Decoded };
        let mut origins = self.heap.deep_origins(first);
        origins.add(&self.origin(kind, symbol, range));
        Value { texts, ..Value::made_of(origins) }
    }
}

/// A text with its encoding undone, where it is one that can be undone here.
fn decode_text(symbol: &str, way: &str, text: &str) -> Option<String> {
    if text.contains('*') {
        return None;
    }
    let plain: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let bytes = plain.as_bytes();
    let is_hex = symbol.contains("hex") || way == "hex" || symbol.ends_with("b16decode");
    let decoded = if is_hex {
        HEXLOWER_PERMISSIVE.decode(bytes).ok()
    } else if symbol.ends_with("b32decode") {
        BASE32.decode(bytes).ok()
    } else if symbol.contains("64") || symbol == "atob" || way.starts_with("base64") {
        let unpadded = plain.trim_end_matches('=');
        BASE64
            .decode(bytes)
            .or_else(|_| BASE64_NOPAD.decode(unpadded.as_bytes()))
            .or_else(|_| BASE64URL.decode(bytes))
            .ok()
    } else if way.starts_with("rot") {
        Some(text.chars().map(turn_letter).collect::<String>().into_bytes())
    } else {
        None
    };
    String::from_utf8(decoded?).ok()
}

/// A letter thirteen further.
fn turn_letter(c: char) -> char {
    let turn = |first: u8| char::from(first + (u8::try_from(c).unwrap_or(first) - first + 13) % 26);
    match c {
        'a'..='z' => turn(b'a'),
        'A'..='Z' => turn(b'A'),
        c => c,
    }
}

/// A format of `%` with its places not known.
fn fill_percent(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('%', Some('%')) => {
                chars.next();
                out.push('%');
            }
            ('%', Some('(')) => {
                for inner in chars.by_ref() {
                    if inner == ')' {
                        break;
                    }
                }
                chars.next();
                out.push('*');
            }
            ('%', Some(_)) => {
                chars.next();
                out.push('*');
            }
            (c, _) => out.push(c),
        }
    }
    out
}

/// An object with fields.
pub(crate) fn object_with(fields: impl IntoIterator<Item = (Rc<str>, Value)>) -> Object {
    Object { fields: fields.into_iter().collect(), ..Object::default() }
}
