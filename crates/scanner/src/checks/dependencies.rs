//! Part of CHECK-08: names of packages that are almost the name of a popular one.

/// Packages that are worth imitating.
const POPULAR: &[&str] = &[
    "requests",
    "numpy",
    "pandas",
    "python-dateutil",
    "urllib3",
    "boto3",
    "setuptools",
    "cryptography",
    "pyyaml",
    "flask",
    "django",
    "fastapi",
    "pydantic",
    "openai",
    "anthropic",
    "langchain",
    "beautifulsoup4",
    "selenium",
    "playwright",
    "matplotlib",
    "scipy",
    "tensorflow",
    "pytorch",
    "httpx",
    "aiohttp",
    "colorama",
    "express",
    "lodash",
    "react",
    "axios",
    "chalk",
    "commander",
    "typescript",
    "webpack",
    "dotenv",
    "mongoose",
    "electron",
    "puppeteer",
    "cross-env",
    "eslint",
    "prettier",
    "discord.js",
    "node-fetch",
    "socket.io",
    "jsonwebtoken",
    "bcrypt",
    "moment",
];

/// Packages of their own whose names are one letter off a popular one.
const REAL: &[&str] = &["preact", "request", "momento"];

/// Names in a list of dependencies that are one letter off a popular one, each with that one.
pub(crate) fn find_typosquats(path: &str, text: &str) -> Vec<(String, &'static str)> {
    let file = path.rsplit('/').next().unwrap_or(path);
    let names: Vec<String> = match file {
        "requirements.txt" | "requirements-dev.txt" => text
            .lines()
            .filter(|line| !line.trim_start().starts_with(['#', '-']))
            .filter_map(|line| {
                Some(
                    line.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.')))
                        .next()?
                        .to_ascii_lowercase(),
                )
            })
            .collect(),
        "package.json" => {
            let value: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
            let lists = ["dependencies", "devDependencies", "optionalDependencies"]
                .into_iter()
                .filter_map(|key| value.get(key)?.as_object());
            lists.flat_map(|list| list.keys().cloned()).collect()
        }
        _ => return Vec::new(),
    };
    let near = |name: &String| {
        let known = POPULAR.contains(&name.as_str()) || REAL.contains(&name.as_str());
        let twin = POPULAR
            .iter()
            .find(|popular| popular.len() >= 5 && strsim::damerau_levenshtein(name, popular) == 1);
        twin.filter(|_| !known).map(|popular| (name.clone(), *popular))
    };
    names.iter().take(2000).filter_map(near).collect()
}
