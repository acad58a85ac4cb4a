//! What a skill without a manifest may do: as good as nothing.

use skillsandbox_terms::Runtime;

use crate::diagnostic::{Fault, Spanned};
use crate::env_vars::{EnvPattern, EnvPermissions};
use crate::filesystem::FilePermissions;
use crate::manifest::{DeclaredPermissions, Syscalls, check_name, check_version};
use crate::network::NetworkPermissions;
use crate::resources::ResourceLimits;
use crate::{Manifest, SkillIdentity};

/// The variables that a skill without a manifest is handed.
const VARIABLES: [&str; 2] = ["LANG", "PATH"];

impl Manifest {
    /// The manifest of a skill that has none: its own folder read-only, private home and `/tmp`, no network, no variables but `LANG` and
    /// `PATH`, the default limits, and no entrypoint.
    ///
    /// ```
    /// use skillsandbox_manifest::Manifest;
    ///
    /// let manifest = Manifest::safe_defaults("pdf", "unknown")?;
    /// assert!(manifest.network().egress.is_empty() && manifest.filesystem().read.is_empty());
    /// assert_eq!(Manifest::parse(&manifest.to_yaml()).unwrap(), manifest);
    /// # Ok::<(), skillsandbox_manifest::Fault>(())
    /// ```
    ///
    /// # Errors
    /// What cannot be the name or the version of a skill.
    pub fn safe_defaults(name: &str, version: &str) -> Result<Self, Fault> {
        let variables = VARIABLES.iter().map(|name| Ok(Spanned::from(name.parse::<EnvPattern>()?)));
        Ok(Self {
            skill: SkillIdentity {
                name: Spanned::from(check_name(name)?),
                version: Spanned::from(check_version(version)?),
                description: None,
            },
            runtime: Runtime::default(),
            permissions: DeclaredPermissions {
                network: NetworkPermissions::default(),
                filesystem: FilePermissions::default(),
                env_vars: EnvPermissions {
                    allow: variables.collect::<Result<_, Fault>>()?,
                    deny: Vec::new(),
                },
                syscalls: Syscalls::default(),
                commands: None,
            },
            resources: ResourceLimits::default(),
            parameters: Vec::new(),
            entrypoint: None,
        })
    }
}
