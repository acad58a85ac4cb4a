//! An MCP server with settings of one's own: the skills below the folders that are named, two at a time, ten seconds each.
//!
//! ```sh
//! npx @modelcontextprotocol/inspector --cli target/debug/embed_mcp examples/skills --method tools/list
//! ```

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::time::Duration;

    use skillsandbox_mcp::{McpServer, ServerSettings};
    use skillsandbox_run::Unrecorded;

    let mut settings = ServerSettings::new(std::env::args_os().skip(1).map(PathBuf::from));
    settings.max_concurrent = 2;
    settings.timeout = Some(Duration::from_secs(10));
    // A runtime of one's own records runs in `skillsandbox_store::history::HistoryFile`; not to record has to be said.
    let server = McpServer::new(&settings, Arc::new(Unrecorded))?;
    server.serve_stdio()?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn main() {}
