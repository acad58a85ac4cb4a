//! Part of CHECK-08: installers that are piped to a shell by their own makers' advice.

use crate::rule::PatternRule;

/// Hosts of installers that are piped to a shell by everybody, by their own makers' advice.
const INSTALLERS: &[&str] = &[
    "sh.rustup.rs",
    "astral.sh",
    "bun.sh",
    "deno.land",
    "get.docker.com",
    "raw.githubusercontent.com/homebrew",
    "raw.githubusercontent.com/nvm-sh",
    "install.python-poetry.org",
    "get.pnpm.io",
    "ollama.com",
    "ollama.ai",
    "get.scoop.sh",
    "fly.io",
    "deb.nodesource.com",
    "sdk.cloud.google.com",
    "cli.github.com",
    "get.helm.sh",
    "raw.githubusercontent.com/helm",
    "get.k3s.io",
    "install.determinate.systems",
    "nixos.org",
    "starship.rs",
    "get.volta.sh",
    "cursor.com",
    "claude.ai",
    "openclaw.ai",
    "clawd.bot",
    "vercel.com",
    "supabase.com",
    "railway.app",
    "railway.com",
    "get.sdkman.io",
    "pyenv.run",
    "mise.run",
    "mise.jdx.dev",
    "raw.githubusercontent.com/ohmyzsh",
    "taskfile.dev",
    "just.systems",
    "dl.google.com",
    "foundry.paradigm.xyz",
    "l.foundry",
    "release.solana.com",
    "getmoto",
    "tailscale.com",
    "syncthing",
    "k6.io",
    "aka.ms",
    "packages.microsoft.com",
    "community.chocolatey.org",
    "chocolatey.org",
    "convex.dev",
    "modal.com",
];

/// Whether an address is that of such an installer.
pub(crate) fn is_known_address(address: &str) -> bool {
    let address = address.to_ascii_lowercase();
    INSTALLERS
        .iter()
        .any(|host| address.contains(&format!("://{host}")) || address.contains(&format!(".{host}")))
}

/// Whether a passage pipes such an installer to a shell.
pub(crate) fn is_known_installer(rule: &PatternRule, passage: &[u8]) -> bool {
    if !matches!(rule.info.id, "pipe-to-shell" | "decoded-command" | "insecure-pipe-to-shell") {
        return false;
    }
    let passage = String::from_utf8_lossy(passage);
    is_known_address(&passage) && !passage.contains("base64")
}
