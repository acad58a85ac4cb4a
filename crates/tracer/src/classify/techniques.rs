//! Techniques by id and name, as ATT&CK and ATLAS have them. Names change between versions, so the versions are pinned.

use crate::format::trace::{AttackClass, AttackTechnique};

/// The version of ATT&CK (Enterprise) that ids, names and tactics are from.
pub const ATTACK_VERSION: &str = "17";

/// The version of ATLAS that ids and names are from.
pub const ATLAS_VERSION: &str = "5";

/// Id, name, and the tactics it serves, in ATT&CK's spelling; none for ATLAS, whose tactics are others.
pub(super) const TECHNIQUES: &[(&str, &str, &[&str])] = &[
    ("T1003.007", "OS Credential Dumping: Proc Filesystem", &["credential-access"]),
    ("T1003.008", "OS Credential Dumping: /etc/passwd and /etc/shadow", &["credential-access"]),
    ("T1005", "Data from Local System", &["collection"]),
    ("T1016", "System Network Configuration Discovery", &["discovery"]),
    ("T1033", "System Owner/User Discovery", &["discovery"]),
    (
        "T1037.004",
        "Boot or Logon Initialization Scripts: RC Scripts",
        &["persistence", "privilege-escalation"],
    ),
    ("T1046", "Network Service Discovery", &["discovery"]),
    ("T1048", "Exfiltration Over Alternative Protocol", &["exfiltration"]),
    (
        "T1048.003",
        "Exfiltration Over Alternative Protocol: Exfiltration Over Unencrypted Non-C2 Protocol",
        &["exfiltration"],
    ),
    ("T1053.002", "Scheduled Task/Job: At", &["execution", "persistence", "privilege-escalation"]),
    ("T1053.003", "Scheduled Task/Job: Cron", &["execution", "persistence", "privilege-escalation"]),
    ("T1055.008", "Process Injection: Ptrace System Calls", &["defense-evasion", "privilege-escalation"]),
    ("T1057", "Process Discovery", &["discovery"]),
    ("T1059.004", "Command and Scripting Interpreter: Unix Shell", &["execution"]),
    ("T1068", "Exploitation for Privilege Escalation", &["privilege-escalation"]),
    ("T1071.004", "Application Layer Protocol: DNS", &["command-and-control"]),
    ("T1082", "System Information Discovery", &["discovery"]),
    ("T1083", "File and Directory Discovery", &["discovery"]),
    ("T1087.001", "Account Discovery: Local Account", &["discovery"]),
    ("T1090.004", "Proxy: Domain Fronting", &["command-and-control"]),
    ("T1095", "Non-Application Layer Protocol", &["command-and-control"]),
    ("T1098", "Account Manipulation", &["persistence", "privilege-escalation"]),
    ("T1098.004", "Account Manipulation: SSH Authorized Keys", &["persistence", "privilege-escalation"]),
    ("T1105", "Ingress Tool Transfer", &["command-and-control"]),
    ("T1136.001", "Create Account: Local Account", &["persistence"]),
    ("T1195.002", "Supply Chain Compromise: Compromise Software Supply Chain", &["initial-access"]),
    ("T1496", "Resource Hijacking", &["impact"]),
    ("T1499.001", "Endpoint Denial of Service: OS Exhaustion Flood", &["impact"]),
    ("T1528", "Steal Application Access Token", &["credential-access"]),
    ("T1529", "System Shutdown/Reboot", &["impact"]),
    ("T1539", "Steal Web Session Cookie", &["credential-access"]),
    (
        "T1543.002",
        "Create or Modify System Process: Systemd Service",
        &["persistence", "privilege-escalation"],
    ),
    ("T1546", "Event Triggered Execution", &["persistence", "privilege-escalation"]),
    (
        "T1546.004",
        "Event Triggered Execution: Unix Shell Configuration Modification",
        &["persistence", "privilege-escalation"],
    ),
    (
        "T1547.006",
        "Boot or Logon Autostart Execution: Kernel Modules and Extensions",
        &["persistence", "privilege-escalation"],
    ),
    (
        "T1547.013",
        "Boot or Logon Autostart Execution: XDG Autostart Entries",
        &["persistence", "privilege-escalation"],
    ),
    (
        "T1548.001",
        "Abuse Elevation Control Mechanism: Setuid and Setgid",
        &["defense-evasion", "privilege-escalation"],
    ),
    (
        "T1548.003",
        "Abuse Elevation Control Mechanism: Sudo and Sudo Caching",
        &["defense-evasion", "privilege-escalation"],
    ),
    ("T1552", "Unsecured Credentials", &["credential-access"]),
    ("T1552.001", "Unsecured Credentials: Credentials In Files", &["credential-access"]),
    ("T1552.003", "Unsecured Credentials: Bash History", &["credential-access"]),
    ("T1552.004", "Unsecured Credentials: Private Keys", &["credential-access"]),
    ("T1552.005", "Unsecured Credentials: Cloud Instance Metadata API", &["credential-access"]),
    ("T1554", "Compromise Host Software Binary", &["persistence"]),
    ("T1555", "Credentials from Password Stores", &["credential-access"]),
    ("T1555.003", "Credentials from Password Stores: Credentials from Web Browsers", &["credential-access"]),
    ("T1555.005", "Credentials from Password Stores: Password Managers", &["credential-access"]),
    ("T1567", "Exfiltration Over Web Service", &["exfiltration"]),
    ("T1567.004", "Exfiltration Over Web Service: Exfiltration Over Webhook", &["exfiltration"]),
    (
        "T1574.006",
        "Hijack Execution Flow: Dynamic Linker Hijacking",
        &["defense-evasion", "persistence", "privilege-escalation"],
    ),
    ("T1611", "Escape to Host", &["privilege-escalation"]),
    ("AML.T0010.001", "AI Supply Chain Compromise: AI Software", &[]),
    ("AML.T0025", "Exfiltration via Cyber Means", &[]),
    ("AML.T0037", "Data from Local System", &[]),
    ("AML.T0050", "Command and Scripting Interpreter", &[]),
    ("AML.T0055", "Unsecured Credentials", &[]),
    ("AML.T0081", "Modify AI Agent Configuration", &[]),
    ("AML.T0083", "Credentials from AI Agent Configuration", &[]),
];

/// The tactic that a class serves, and what it is, in words.
pub(super) fn class(class: AttackClass) -> (&'static str, &'static str) {
    match class {
        AttackClass::CredentialHarvesting => ("credential-access", "looked for credentials"),
        AttackClass::CredentialExfiltration => {
            ("exfiltration", "after touching credentials, tried to send something away")
        }
        AttackClass::DataExfiltration => ("exfiltration", "tried to send data away"),
        AttackClass::SupplyChainAttack => {
            ("initial-access", "looked for credentials and tried to send them away")
        }
        AttackClass::PrivilegeEscalation => ("privilege-escalation", "tried to gain privileges"),
        AttackClass::UnauthorizedFileAccess => ("collection", "tried to get at files that were not granted"),
        AttackClass::SandboxEscape => ("privilege-escalation", "tried to leave the sandbox"),
        AttackClass::DnsTunnelling => ("command-and-control", "put data into names that it looked up"),
        AttackClass::DomainFronting => {
            ("command-and-control", "connected for one name and asked for another")
        }
        AttackClass::ResourceAbuse => ("impact", "used the machine for purposes of its own, or up"),
        AttackClass::Persistence => ("persistence", "tried to stay after the run"),
        AttackClass::Discovery => ("discovery", "looked around"),
        AttackClass::RemoteExecution => ("execution", "executed what came from the network"),
    }
}

/// A technique by its id.
pub(super) fn technique(id: &str) -> AttackTechnique {
    let name = TECHNIQUES.iter().find(|(known, ..)| *known == id).map_or("", |(_, name, _)| name);
    AttackTechnique::new(id, name)
}
