//! Containers, clusters and clouds: commands that run elsewhere, or in a container with this machine in it.

use super::{CommandEscape, EscapeTrigger, ProgramFlags, first_operand};

pub(super) const ENTRIES: &[CommandEscape] = &[
    CommandEscape {
        name: "container/any",
        commands: &[
            "docker",
            "docker-compose",
            "podman",
            "podman-compose",
            "nerdctl",
            "buildah",
            "ctr",
            "crictl",
            "runc",
            "crun",
            "lxc",
            "lxc-attach",
            "lxc-execute",
            "incus",
            "vagrant",
            "kind",
            "minikube",
            "colima",
            "limactl",
            "multipass",
            "virsh",
            "qemu",
            "qemu-system",
            "packer",
            "skopeo",
            "toolbox",
            "distrobox",
        ],
        when: EscapeTrigger::Judge(|words| {
            let (index, _) = first_operand(words, "Hlc", &["--host", "--context", "--config"])?;
            let only: &[&[u8]] = &[
                b"ps", b"images", b"version", b"info", b"inspect", b"logs", b"top", b"stats", b"port",
                b"history", b"search",
            ];
            let options = ProgramFlags::new(
                &["--host", "--config", "--context", "--connection", "--url", "--runtime"],
                &[],
                "H",
                "fn",
            );
            let option = words.arguments().find(|(_, word)| options.has(word)).map(|(index, _)| index);
            if words.get(index).is_some_and(|word| only.contains(&word)) { option } else { Some(index) }
        }),
        reason: "a container may have the whole machine in it",
        instead: "name it in the list of allowed tools, such as `Bash(docker build:*)`; what opens the machine to a container is for the embedder",
        matches: &[
            "docker run x",
            "docker exec x id",
            "podman run x",
            "docker build .",
            "docker compose up",
            "docker -H tcp://h.test ps",
            "docker --config x ps",
        ],
        not_matches: &["docker ps", "docker images", "docker logs x", "docker --version"],
    },
    CommandEscape {
        name: "kubectl/exec",
        commands: &["kubectl", "oc", "k3s", "kubectx", "kustomize"],
        when: EscapeTrigger::Judge(|words| {
            let flags = ProgramFlags::new(
                &[
                    "--kubeconfig",
                    "--raw",
                    "--exec-command",
                    "--enable-exec",
                    "--enable-alpha-plugins",
                    "--enable-helm",
                    "--helm-command",
                    "--network",
                ],
                &[],
                "",
                "",
            );
            if let Some((index, _)) = words.arguments().find(|(_, word)| flags.has(word)) {
                return Some(index);
            }
            let (index, _) = first_operand(
                words,
                "nsv",
                &["--namespace", "--context", "--cluster", "--user", "--server", "--as", "--token"],
            )?;
            let only: &[&[u8]] = &[
                b"get",
                b"describe",
                b"logs",
                b"top",
                b"version",
                b"explain",
                b"api-resources",
                b"api-versions",
                b"cluster-info",
                b"apply",
                b"delete",
                b"create",
                b"scale",
                b"rollout",
                b"label",
                b"annotate",
                b"diff",
                b"wait",
                b"patch",
                b"build",
                b"events",
                b"expose",
                b"set",
                b"autoscale",
                b"cordon",
                b"uncordon",
                b"drain",
                b"taint",
                b"auth",
            ];
            (!words.get(index).is_some_and(|word| only.contains(&word))).then_some(index)
        }),
        reason: "it runs commands in a cluster, opens an editor or a tunnel, or starts a plugin",
        instead: "use another sub-command",
        matches: &[
            "kubectl exec p -- id",
            "kubectl run x --image=y",
            "kubectl edit x",
            "kubectl plug",
            "kubectl port-forward x 1",
            "kubectl cp a p:b",
            "kubectl debug x",
            "kubectl --kubeconfig=x get pods",
            "kubectl -n ns exec p id",
        ],
        not_matches: &[
            "kubectl get pods",
            "kubectl describe pod x",
            "kubectl logs x",
            "kubectl -n ns get pods",
            "kubectl",
        ],
    },
    CommandEscape {
        name: "infrastructure/run",
        commands: &[
            "terraform",
            "tofu",
            "terragrunt",
            "pulumi",
            "cdk",
            "serverless",
            "sls",
            "sam",
            "heroku",
            "fly",
            "flyctl",
            "vercel",
            "netlify",
            "wrangler",
            "firebase",
            "aws",
            "gcloud",
            "az",
            "puppet",
            "chef-client",
            "chef-solo",
        ],
        when: EscapeTrigger::Judge(|words| {
            let cloud: &[&[u8]] = &[b"aws", b"gcloud", b"az"];
            let file = words.get(0)?.rsplit(|byte| *byte == b'/').next()?;
            if cloud.contains(&file) {
                let signs: &[&[u8]] = &[
                    b"ssh",
                    b"configure",
                    b"config",
                    b"ssm",
                    b"exec-command",
                    b"execute-command",
                    b"extension",
                    b"run-command",
                    b"print-access-token",
                    b"get-session-token",
                    b"get-login-password",
                    b"alias",
                    b"components",
                    b"login",
                    b"get-access-token",
                    b"execute",
                    b"ec2-instance-connect",
                    b"proxy",
                    b"start-session",
                    // A pager, which runs what is typed.
                    b"help",
                ];
                return words.arguments().find(|(_, word)| signs.contains(word)).map(|(index, _)| index);
            }
            let only: &[&[u8]] = &[b"version", b"--version", b"fmt", b"help"];
            if words.get(1).is_some_and(|word| only.contains(&word)) { None } else { Some(0) }
        }),
        reason: "it runs what files and settings say, commands on other machines, or gives out tokens",
        instead: "name it in the list of allowed tools, such as `Bash(terraform plan:*)`; consoles and tokens are for the embedder",
        matches: &[
            "terraform apply",
            "terraform init",
            "aws ssm start-session",
            "gcloud compute ssh x",
            "aws configure set x y",
            "az extension add x",
            "pulumi up",
        ],
        not_matches: &["terraform version", "terraform fmt", "aws s3 ls", "gcloud projects list"],
    },
];
