//! The functions of libraries that are known, by their names.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::code::capability::Capability;
use crate::code::library_names::LibraryModel as M;
use crate::code::network_names::find_send;

/// What a function of a library does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LibraryModel {
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

/// Each model with the names of the functions that are of it, with spaces between them.
const MODELS: &[(LibraryModel, &str)] = &[
    (
        M::Import,
        "__import__ importlib.import_module importlib.__import__ require import module.createRequire() createRequire()",
    ),
    (M::Field, "getattr Reflect.get operator.getitem"),
    (M::Open, "open io.open codecs.open aiofiles.open gzip.open bz2.open lzma.open os.open os.fdopen"),
    (
        M::Read,
        "fs.readFileSync fs.readFile fs.createReadStream fs.openSync fs.open fs.readJson fs.readJsonSync fs-extra.readFileSync \
         fs-extra.readFile fs-extra.readJson Bun.file Deno.readTextFile Deno.readFile Deno.readTextFileSync Deno.readFileSync \
         sqlite3.connect sqlite3.Database better-sqlite3 np.loadtxt pd.read_csv pandas.read_csv linecache.getlines \
         fileinput.input mmap.mmap shelve.open json5.load netrc.netrc dbm.open aiosqlite.connect fs.openAsBlob fs.readv",
    ),
    (
        M::Write,
        "fs.writeFileSync fs.writeFile fs.appendFileSync fs.appendFile fs.createWriteStream fs-extra.writeFile \
         fs-extra.outputFile fs-extra.writeFileSync fs-extra.outputFileSync fs-extra.writeJson Deno.writeTextFile Deno.writeFile \
         Deno.writeTextFileSync Bun.write",
    ),
    (
        M::Copy,
        "shutil.copy shutil.copy2 shutil.copyfile shutil.move shutil.copytree os.rename os.replace os.symlink os.link \
         fs.copyFileSync fs.copyFile fs.renameSync fs.rename fs.cpSync fs.cp fs.symlinkSync fs.symlink",
    ),
    (
        M::Delete,
        "os.remove os.unlink os.rmdir shutil.rmtree os.removedirs os.truncate fs.rmSync fs.rm fs.unlinkSync fs.unlink \
         fs.rmdirSync fs.rmdir rimraf rimraf.sync fs.removeSync fs-extra.removeSync fs-extra.remove Deno.remove",
    ),
    (M::List, "glob.glob glob.iglob os.scandir glob.sync fast-glob fast-glob.sync globby glob"),
    (M::Walk, "os.walk os.fwalk walkdir"),
    (
        M::Variable,
        "os.getenv os.environ.get os.environ.pop os.environ.setdefault os.environ.__getitem__ os.getenvb Deno.env.get \
         decouple.config",
    ),
    (
        M::Environment,
        "os.environ.items os.environ.copy os.environ.values os.environ.keys os.environ.__iter__ Deno.env.toObject \
         psutil.Process().environ",
    ),
    (M::EnvFile, "dotenv.dotenv_values dotenv.parse"),
    (
        M::Same,
        "os.path.expanduser os.path.abspath os.path.realpath os.path.normpath os.path.expandvars path.normalize pathlib.Path Path \
         pathlib.PurePath pathlib.PosixPath str String bytes bytearray list tuple set sorted iter next reversed Promise.resolve \
         Promise.all asyncio.run asyncio.gather Array.from Blob File structuredClone copy.copy copy.deepcopy Object.freeze URL \
         untildify memoryview util.promisify asyncio.create_task asyncio.wait_for frozenset repr url.fileURLToPath enumerate zip \
         functools.wraps asyncio.to_thread os.fsencode os.fsdecode os.fspath Buffer.concat string.String textwrap.dedent",
    ),
    (M::Home, "pathlib.Path.home Path.home os.homedir os.userInfo().homedir homedir os.getHomeDir"),
    (
        M::JoinPath,
        "os.path.join path.join path.resolve path.posix.join path.win32.join posixpath.join ntpath.join urllib.parse.urljoin \
         urljoin",
    ),
    (
        M::Encode,
        "json.dumps JSON.stringify base64.b64encode base64.urlsafe_b64encode base64.b32encode base64.b16encode base64.b85encode \
         base64.a85encode base64.encodebytes base64.standard_b64encode binascii.hexlify binascii.b2a_base64 binascii.b2a_hex \
         zlib.compress gzip.compress bz2.compress lzma.compress urllib.parse.quote urllib.parse.quote_plus urllib.parse.urlencode \
         encodeURIComponent encodeURI escape btoa hex pickle.dumps yaml.dump yaml.safe_dump codecs.encode zlib.gzipSync \
         zlib.deflateSync zlib.brotliCompressSync querystring.stringify qs.stringify json.loads JSON.parse json.load \
         yaml.safe_load yaml.load tomllib.load tomllib.loads toml.load toml.loads URLSearchParams Object.fromEntries FormData \
         form-data json.JSONEncoder().encode email.mime.text.MIMEText MIMEText email.mime.base.MIMEBase \
         email.mime.application.MIMEApplication urllib.parse.unquote quote struct.pack xmlrpc.client.Binary uuencode \
         binascii.b2a_uu csv.writer dict Object.entries Object.values Object.keys Object.assign TextEncoder().encode \
         collections.OrderedDict int.from_bytes ord superjson.stringify util.inspect pprint.pformat msgpack.packb Uint8Array",
    ),
    (
        M::Decode,
        "base64.b64decode base64.urlsafe_b64decode base64.b32decode base64.b16decode base64.b85decode base64.a85decode \
         base64.decodebytes base64.standard_b64decode binascii.unhexlify binascii.a2b_hex binascii.a2b_base64 bytes.fromhex \
         bytearray.fromhex codecs.decode zlib.decompress gzip.decompress bz2.decompress lzma.decompress marshal.loads atob \
         unescape decodeURIComponent zlib.inflateSync zlib.gunzipSync pickle.loads Buffer.from js-base64.decode",
    ),
    (M::Letters, "chr String.fromCharCode String.fromCodePoint"),
    (
        M::Digest,
        "len bool int float type isinstance hash id print console.log any all sum min max jwt.encode jwt.sign jsonwebtoken.sign \
         os.path.exists os.path.isfile os.path.isdir os.path.getsize os.stat fs.existsSync fs.statSync Boolean Number \
         console.error parseInt sys.exit process.exit os.path.basename logging.info range re.compile Array.isArray hasattr \
         callable fs.accessSync fs.mkdirSync os.makedirs os.chmod os.access",
    ),
    (
        M::Execute,
        "exec eval compile Function execfile vm.runInThisContext vm.runInNewContext vm.runInContext vm.Script runpy.run_path \
         vm.compileFunction AsyncFunction execScript module._compile builtins.exec code.InteractiveInterpreter().runcode",
    ),
    (
        M::Source(Capability::RecordsUser),
        "pyperclip.paste clipboardy.read clipboardy.readSync navigator.clipboard.readText PIL.ImageGrab.grabclipboard \
         ImageGrab.grab PIL.ImageGrab.grab pyautogui.screenshot pynput.keyboard.Listener keyboard.Listener keyboard.record \
         keyboard.on_press keyboard.hook mss.mss screenshot-desktop cv2.VideoCapture sounddevice.rec tkinter.Tk().clipboard_get",
    ),
    (
        M::Source(Capability::ReadsBrowserData),
        "browser_cookie3.chrome browser_cookie3.firefox browser_cookie3.load browser_cookie3.edge browsercookie.chrome \
         rookiepy.chrome rookiepy.load win32crypt.CryptUnprotectData pycookiecheat.chrome_cookies",
    ),
    (
        M::Source(Capability::ReadsNamedSecret),
        "keyring.get_password keyring.get_credential keytar.getPassword keytar.findPassword",
    ),
    (
        M::Source(Capability::ReadsKeychain),
        "keytar.findCredentials secretstorage.get_all_items win32cred.CredEnumerate",
    ),
    (M::Archive, "tarfile.open zipfile.ZipFile tarfile.TarFile archiver adm-zip jszip pyzipper.AESZipFile"),
    (M::Pack, "shutil.make_archive"),
    (M::Buffer, "io.BytesIO io.StringIO"),
    (M::Duplicate, "os.dup2"),
    (M::SetField, "setattr Reflect.set"),
    (M::Promise, "Promise"),
    (M::Resolve, "%resolve"),
    (M::Partial, "functools.partial partial"),
    (M::Format, "%format"),
];

/// Whether something is known of a thing of a library.
pub(crate) fn is_known_symbol(symbol: &str) -> bool {
    find_model(symbol).is_some() || find_send(symbol).is_some()
}

/// What a function does, by its whole name.
pub(crate) fn find_model(symbol: &str) -> Option<LibraryModel> {
    static NAMES: LazyLock<HashMap<&'static str, LibraryModel>> = LazyLock::new(|| {
        let named = |(model, names): &(LibraryModel, &'static str)| {
            let model = *model;
            names.split_ascii_whitespace().map(move |name| (name, model))
        };
        MODELS.iter().flat_map(named).collect()
    });
    NAMES.get(symbol).copied().or_else(|| find_by_parts(symbol))
}

/// What a function does, by the first and the last part of its name.
fn find_by_parts(symbol: &str) -> Option<LibraryModel> {
    let root = symbol.split(['.', '(']).next().unwrap_or(symbol);
    let last = symbol.rsplit('.').next().unwrap_or(symbol);
    match (root, last) {
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
        | ("pty" | "Bun" | "bun", "spawn" | "spawnSync" | "$")
        | ("asyncio", "create_subprocess_shell" | "create_subprocess_exec")
        | ("Deno", "Command" | "run") => Some(M::Run),
        ("os", last) if last.starts_with("exec") || last.starts_with("spawn") => Some(M::Run),
        ("hashlib" | "hmac", _) | ("crypto", "createHash" | "createHmac" | "randomBytes" | "randomUUID") => {
            Some(M::Digest)
        }
        ("crypto", "createCipheriv" | "publicEncrypt" | "createCipher")
        | ("cryptography" | "Crypto" | "nacl" | "Fernet", "encrypt" | "update" | "final") => Some(M::Encrypt),
        (
            _,
            "createServer" | "HTTPServer" | "TCPServer" | "ThreadingHTTPServer" | "start_server" | "listen",
        ) => Some(M::Listen),
        _ => None,
    }
}
