//! The functions of libraries that have to do with the network, by their names.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Words to be found fast.
type WordSet = HashSet<&'static str>;

/// What a function does with the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SendKind {
    /// Sends a request.
    Request,
    /// Makes a client, a connection or a request to be sent later.
    Prepare,
    /// Sends over a connection, mail or a queue.
    Message,
    /// Puts a file elsewhere.
    Upload,
    /// Looks a name up.
    Lookup,
    /// Takes what came in.
    Receive,
    /// Sends by the look of its name.
    Guess,
}

/// Libraries that speak HTTP.
static HTTP: LazyLock<WordSet> = LazyLock::new(|| {
    split_words(
        "requests httpx aiohttp urllib urllib2 urllib3 http https axios got undici superagent needle node-fetch cross-fetch ky \
         request request-promise bent phin grequests treq tornado mechanize cloudscraper curl_cffi httplib2 httplib niquests \
         isomorphic-fetch ofetch requests_html http2 fetch $fetch pycurl XMLHttpRequest navigator webbrowser requests_toolbelt \
         primp tls_client jQuery $ unfetch requests_oauthlib authlib",
    )
});

/// Libraries of connections and messages.
static CONNECTIONS: LazyLock<WordSet> = LazyLock::new(|| {
    split_words(
        "socket ssl net tls dgram websocket websockets ws WebSocket socketio socket.io-client zmq smtplib aiosmtplib nodemailer \
         yagmail sendgrid @sendgrid/mail mailgun resend ftplib paramiko pysftp ssh2 basic-ftp asyncssh fabric telnetlib boto3 \
         aioboto3 botocore @aws-sdk/client-s3 aws-sdk minio google @google-cloud/storage azure dropbox telegram telebot discord \
         discord.js discord_webhook dhooks slack_sdk @slack/web-api slack telethon pika paho mqtt kafka kafkajs nats Deno ably \
         pusher xmlrpc grpc pexpect ntfy apprise notifiers imaplib EventSource",
    )
});

/// Names of functions that send a request.
static VERBS: LazyLock<WordSet> = LazyLock::new(|| {
    split_words(
        "get post put patch delete head options request urlopen urlretrieve fetch send stream sendBeacon open open_new \
         open_new_tab write end upload ajax perform del getJSON endheaders putheader fetch_token ws_connect",
    )
});

/// Names of functions that make something to send with.
static MAKERS: LazyLock<WordSet> = LazyLock::new(|| {
    split_words(
        "Session session Client AsyncClient ClientSession PoolManager HTTPConnection HTTPSConnection create extend Request \
         HTTPClient AsyncHTTPClient create_scraper Http Pool XMLHttpRequest HTMLSession build_opener Curl connect Agent \
         ProxyManager HTTPConnectionPool HTTPSConnectionPool FuturesSession OAuth2Session",
    )
});

/// Names of functions that send over a connection.
static SENDERS: LazyLock<WordSet> = LazyLock::new(|| {
    split_words(
        "send sendall sendto sendmsg write end emit sendfile send_json send_string sendmail send_message sendMail sendMessage \
         send_document sendDocument send_file sendFile chat_postMessage publish basic_publish execute produce send_photo \
         postMessage send_bytes send_str send_text exec_command notify append",
    )
});

/// Names of functions that put a file elsewhere.
static UPLOADS: LazyLock<WordSet> = LazyLock::new(|| {
    split_words(
        "upload_file upload_fileobj put_object upload_from_filename upload_from_string upload_from_file upload_blob fput_object \
         files_upload files_upload_v2 storbinary storlines put putfo fastPut uploadFrom PutObjectCommand upload putObject \
         uploadFile",
    )
});

/// What a thing of a library does with the network.
pub(crate) fn find_send(symbol: &str) -> Option<SendKind> {
    let root = symbol.split(['.', '(']).next().unwrap_or(symbol);
    let last = symbol.rsplit('.').next().unwrap_or(symbol);
    // What a web framework calls so is a request that came in.
    if root == "request" && symbol.matches('.').count() > 1 {
        return None;
    }
    // `slack_sdk.WebClient`, `@aws-sdk/client-s3.S3Client`, `socket.io-client`.
    let made = symbol.split('(').next().unwrap_or(symbol);
    let module = made.rsplit_once('.').map_or(root, |(module, _)| module);
    let is_known =
        |list: &LazyLock<WordSet>| is_word(list, root) || is_word(list, module) || is_word(list, made);
    if (root == "dns" && (last.starts_with("resolve") || matches!(last, "lookup" | "query" | "reverse")))
        || (root == "socket"
            && matches!(last, "gethostbyname" | "getaddrinfo" | "gethostbyname_ex" | "getfqdn"))
    {
        return Some(SendKind::Lookup);
    }
    if symbol.starts_with("urllib.parse")
        || symbol.starts_with("http.server")
        || symbol.starts_with("http.cookie")
    {
        return None;
    }
    if is_known(&HTTP) {
        // A module that is called itself, or a verb of it.
        if is_word(&MAKERS, last) {
            return Some(SendKind::Prepare);
        }
        let is_called = symbol == root && !matches!(root, "http" | "https" | "navigator" | "$" | "requests");
        return (is_called || is_word(&VERBS, last)).then_some(SendKind::Request);
    }
    if is_known(&CONNECTIONS)
        || symbol.starts_with("asyncio.open_connection")
        || symbol.starts_with("socket.")
    {
        if matches!(last, "recv" | "recvfrom" | "read" | "readline" | "recv_into" | "readuntil")
            && !symbol.starts_with("google")
        {
            return Some(SendKind::Receive);
        }
        if is_word(&UPLOADS, last) {
            return Some(SendKind::Upload);
        }
        let is_plain = matches!(root, "google" | "azure" | "grpc" | "Deno" | "slack" | "discord");
        if is_word(&SENDERS, last) && !(is_plain && matches!(last, "write" | "end" | "execute" | "append")) {
            return Some(SendKind::Message);
        }
        return Some(SendKind::Prepare);
    }
    None
}

/// What a method of something that is not known does by its name.
pub(crate) fn find_guess(name: &str) -> Option<SendKind> {
    let sends = matches!(
        name,
        "post"
            | "patch"
            | "sendall"
            | "sendto"
            | "sendmail"
            | "send_message"
            | "sendMail"
            | "sendMessage"
            | "sendBeacon"
            | "upload_file"
            | "put_object"
            | "upload_fileobj"
            | "storbinary"
            | "chat_postMessage"
            | "urlopen"
            | "request"
            | "send"
            | "fetch"
            | "send_document"
            | "sendDocument"
            | "publish"
            | "upload_from_string"
            | "send_file"
            | "files_upload"
    );
    sends.then_some(SendKind::Guess)
}

/// Whether a word stands in a list.
fn is_word(list: &LazyLock<WordSet>, word: &str) -> bool {
    list.contains(word)
}

/// The words of a text with spaces between them.
fn split_words(words: &'static str) -> WordSet {
    words.split_ascii_whitespace().collect()
}
