//! An authority for two days and one stage, and certificates of it. Nobody else trusts it, and its key is thrown away at once.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

/// Servers on the stage that speak TLS.
pub const NAMES: [&str; 2] = ["api.weather.test", "webhook.test"];
const KEY: [&str; 6] = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout"];

/// Makes `authority/`, as a folder of trusted certificates looks, and `NAME.pem` and `NAME.key` for each server.
pub fn make(folder: &Path) -> anyhow::Result<()> {
    let authority = ["req", "-x509", "-days", "2", "-subj", "/CN=The authority of a stage", "-out", "ca.pem"];
    // What strict clients (Python 3.13) ask of an authority.
    let extensions =
        ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign", "subjectKeyIdentifier=hash"];
    let extensions = extensions.into_iter().flat_map(|extension| ["-addext", extension]);
    openssl(folder, authority.into_iter().chain(KEY).chain(["ca.key"]).chain(extensions))?;
    for name in NAMES {
        let subject = format!("/CN={name}");
        let (request, key) = (format!("{name}.csr"), format!("{name}.key"));
        let (certificate, extensions) = (format!("{name}.pem"), format!("{name}.ext"));
        let asking = ["req", "-new", "-subj", &subject, "-out", &request];
        openssl(folder, asking.into_iter().chain(KEY).chain([key.as_str()]))?;
        fs::write(
            folder.join(&extensions),
            format!("subjectAltName=DNS:{name}\nauthorityKeyIdentifier=keyid\nbasicConstraints=CA:FALSE\n"),
        )?;
        let signing = "x509 -req -CA ca.pem -CAkey ca.key -CAcreateserial -days 2";
        let files = ["-in", &request, "-extfile", &extensions, "-out", &certificate];
        openssl(folder, signing.split(' ').chain(files))?;
    }
    fs::remove_file(folder.join("ca.key"))?;
    // Some clients read one file, others look for a name made of the subject (openssl-rehash(1)).
    let hash = openssl(folder, ["x509", "-hash", "-noout", "-in", "ca.pem"])?;
    let trusted = folder.join("authority");
    fs::create_dir(&trusted)?;
    for name in ["ca-certificates.crt", &format!("{}.0", hash.trim())] {
        fs::copy(folder.join("ca.pem"), trusted.join(name))?;
    }
    Ok(())
}

fn openssl<'a>(folder: &Path, arguments: impl IntoIterator<Item = &'a str>) -> anyhow::Result<String> {
    let mut command = Command::new("openssl");
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    let output = command.output().context("openssl is needed, to make certificates: install it")?;
    if !output.status.success() {
        bail!("openssl could not make a certificate: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8(output.stdout)?)
}
