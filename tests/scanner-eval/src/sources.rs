//! Where the skills of a corpus come from, as data: which sources are one family, which labels are contested, what is a clear payload.
//!
//! A family is what is left out at a time: sources of one author, one vendor or one generator, which share their habits. A source that no row
//! names is a family of its own.

/// A family, and the sources in it; a `*` at the end stands for the rest of a name.
const FAMILIES: &[(&str, &[&str])] = &[
    // One project's data set: written, augmented and collected by the same hands.
    ("kp", &["kp_*"]),
    // Made for the first corpus by its authors, one file a technique, with controls.
    (
        "handmade",
        &[
            "delegation",
            "delegation_controls",
            "frontmatter",
            "spoof",
            "spoof_controls",
            "structural",
            "structural_controls",
            "supply",
            "supply_controls",
            "tools",
            "tools_controls",
            "unicode",
            "unicode_controls",
        ],
    ),
    // One marketplace's skills that people use. Its malware campaign is a family of its own: other authors.
    ("clawhub", &["clawhub_popular", "clawhub_quoting"]),
    ("atr", &["atr_*"]),
    ("fixtures", &["fixtures_*"]),
    ("agentverus", &["agentverus_*"]),
    ("anthropic", &["anthropics", "anthropic-*"]),
    ("microsoft", &["awesome-copilot", "ms-cat", "dotnet"]),
    ("google", &["google-skills", "gemini", "firebase"]),
    (
        "small vendors",
        &[
            "apify",
            "browserbase",
            "clickhouse",
            "databricks",
            "datadog",
            "expo",
            "hashicorp",
            "langchain",
            "mongodb",
            "redis",
            "remotion",
            "stripe",
            "vercel",
        ],
    ),
];

/// Sources whose labels are contested: judged in a row of their own, and nothing is fitted on them.
const CONTESTED: &[&str] = &["agenttrap", "skillleak_wild"];

/// Categories of malicious skills that are not a clear payload, by how they begin, and why.
const UNCLEAR: &[(&str, &str)] = &[
    ("technique_demo", "shows one weakness of a platform, mostly without a payload"),
    ("social_engineering", "manipulates people; what is wrong needs knowledge of the world"),
    ("delegation", "is about how skills call each other"),
    ("fm_", "is about the form of the front matter"),
    ("name_spoof", "is about a name"),
    ("tool_overclaim", "is about what is declared"),
    ("supply_", "is about where dependencies come from"),
    ("sql_injection", "is a weakness, not an attack"),
    ("path_traversal", "is a weakness, not an attack"),
    ("command_injection", "is a weakness, not an attack"),
    ("resource_", "wastes, and takes nothing"),
    ("integrity_output", "makes answers worse; what is wrong needs knowledge of the world"),
    ("unspecified", "does not say what it is"),
];

/// The source of a labelled path: `skills/<source>/…`.
pub(crate) fn find_source(path: &str) -> &str {
    path.split('/').nth(1).unwrap_or_default()
}

/// The family of a source.
pub(crate) fn find_family(source: &str) -> &str {
    let fits = |pattern: &str| match pattern.strip_suffix('*') {
        Some(start) => source.starts_with(start),
        None => source == pattern,
    };
    FAMILIES
        .iter()
        .find(|(_, sources)| sources.iter().any(|pattern| fits(pattern)))
        .map_or(source, |(name, _)| name)
}

/// Whether the labels of a source are contested.
pub(crate) fn is_contested(source: &str) -> bool {
    CONTESTED.contains(&source)
}

/// Whether a malicious skill of this category carries a payload that nobody would call harmless.
pub(crate) fn is_clear(category: &str) -> bool {
    !UNCLEAR.iter().any(|(start, _)| category.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_have_their_families() {
        for (source, family) in [
            ("kp_showcase", "kp"),
            ("atr_mal", "atr"),
            ("unicode_controls", "handmade"),
            ("anthropic-kw", "anthropic"),
            ("clawhavoc", "clawhavoc"),
            ("never-seen", "never-seen"),
        ] {
            assert_eq!(find_family(source), family);
        }
        assert_eq!(find_source("skills/kp_graph/a/b"), "kp_graph");
        assert!(is_contested("agenttrap") && !is_contested("atr_mal"));
        assert!(is_clear("exfiltration") && !is_clear("fm_tabs_yaml"));
        assert!(UNCLEAR.iter().all(|(_, why)| !why.is_empty()));
    }
}
