//! CHECK-06 across the skills of one scan: rings of skills that call each other, and chains that go deep.
//!
//! Time and memory are linear in the skills and their calls: one walk by Tarjan finds the rings, in an order in which each
//! skill's depth follows from those it calls. Nothing here recurses, so that a long chain is only long.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::calls::{FoundCall, SkillCalls};
use crate::checks::delegation::{DEEP_CHAIN, RING, TOO_MANY_CALLS};
use crate::finding::Finding;
use crate::report::ScanReport;
use crate::rule::RuleInfo;
use crate::scan::Scanner;
use crate::skill::SkillFiles;

/// Calls in a row that need no word of explanation.
const MAX_DEPTH: u32 = 3;
/// Skills of a ring or a chain that are named.
const SHOWN: usize = 8;
/// Skills that are looked at to name a ring; a ring that is longer is described instead.
const SEARCHED: usize = 64;
/// Folders above a skill in which a name is looked up.
const MAX_FOLDERS: usize = 32;

/// What the skills of one scan have to do with each other.
#[derive(Debug, Default)]
pub struct SkillLinks {
    found: HashMap<usize, Vec<Finding>>,
}

impl SkillLinks {
    /// Follows all calls. Reports are asked for by the numbers that the skills have here.
    #[must_use]
    pub fn new(skills: &[SkillCalls]) -> Self {
        let graph = CallGraph::new(skills);
        let parts = graph.find_parts();
        let mut found: HashMap<usize, Vec<Finding>> = HashMap::new();
        for (number, skill) in skills.iter().enumerate() {
            let mut findings = Vec::new();
            if let Some((call, why)) = graph.find_ring(skills, &parts, number) {
                findings.push(make_finding(skill, Some(call), &RING, why));
            } else if let Some((call, why)) = graph.find_chain(skills, &parts, number) {
                findings.push(make_finding(skill, Some(call), &DEEP_CHAIN, why));
            }
            if skill.cut {
                let why = "It names more skills than are followed".to_owned();
                findings.push(make_finding(skill, None, &TOO_MANY_CALLS, why));
            }
            if !findings.is_empty() {
                found.insert(number, findings);
            }
        }
        Self { found }
    }

    /// Adds what concerns a skill to its report, and judges it again; whether there was anything.
    pub(crate) fn apply(&self, number: usize, report: &mut ScanReport) -> bool {
        let Some(findings) = self.found.get(&number) else { return false };
        report.findings.extend(findings.iter().cloned());
        report.settle();
        true
    }
}

impl Scanner {
    /// Judges skills that will be used together: besides each by itself, whether they call each other without end.
    #[must_use]
    pub fn scan_all(&self, skills: &[SkillFiles]) -> Vec<ScanReport> {
        let calls: Vec<SkillCalls> = skills.iter().map(|skill| SkillCalls::find(skill, "")).collect();
        let links = SkillLinks::new(&calls);
        let judge = |(number, skill)| {
            let mut report = self.scan(skill);
            self.add_links(&links, number, &mut report);
            report
        };
        skills.iter().enumerate().map(judge).collect()
    }
}

fn make_finding(
    skill: &SkillCalls,
    call: Option<&FoundCall>,
    rule: &'static RuleInfo,
    why: String,
) -> Finding {
    let mut finding = Finding::new(rule, why);
    if let Some(call) = call {
        finding.file = skill.files.get(usize::from(call.file)).map(ToString::to_string).unwrap_or_default();
        (finding.line, finding.column) = (call.line as usize, call.column as usize);
        finding.range = (call.range.0 as usize, call.range.1 as usize);
    }
    finding
}

/// Skills and what they call. Where a name is several skills', a node of its own stands between, with an edge to each: so the
/// edges stay few however many share a name.
struct CallGraph {
    /// For each node, the nodes it leads to, each with the number of the call; nodes below `skills` are skills.
    edges: Vec<Vec<(usize, usize)>>,
    skills: usize,
}

/// Which nodes lead to each other, and how deep it goes from each.
struct GraphParts {
    part: Vec<usize>,
    /// How many skills a part has.
    size: Vec<usize>,
    /// Calls in the longest chain from a node, and the node it goes on with.
    depth: Vec<(u32, Option<usize>)>,
}

impl CallGraph {
    fn new(skills: &[SkillCalls]) -> Self {
        // For a name and a folder, the skills of that name below it.
        let mut below: HashMap<(u64, u64), Vec<usize>> = HashMap::new();
        for (number, skill) in skills.iter().enumerate() {
            for name in &skill.names {
                for folder in list_folders(&skill.place) {
                    below.entry((*name, folder)).or_default().push(number);
                }
            }
        }
        let mut nodes: HashMap<(u64, u64), usize> = HashMap::new();
        let mut edges: Vec<Vec<(usize, usize)>> = vec![Vec::new(); skills.len()];
        for (number, skill) in skills.iter().enumerate() {
            let around: Vec<u64> = list_folders(&skill.place).collect();
            for (call_number, call) in skill.others.iter().enumerate() {
                let own = skill.names.contains(&call.name);
                if !call.is_order || (own && !call.formal) {
                    continue;
                }
                // The nearest folder that holds such a skill.
                let hub = around.iter().map(|folder| (call.name, *folder)).find(|hub| {
                    below
                        .get(hub)
                        .is_some_and(|members| own || members.iter().take(2).any(|member| *member != number))
                });
                let Some(hub) = hub else { continue };
                let members = below.get(&hub).map(Vec::as_slice).unwrap_or_default();
                let target = match members {
                    [only] => *only,
                    _ => *nodes.entry(hub).or_insert_with(|| {
                        edges.push(members.iter().map(|member| (*member, usize::MAX)).collect());
                        edges.len() - 1
                    }),
                };
                // A call of one's own name is a call of oneself, whoever shares the name.
                let target = if own { number } else { target };
                if let Some(list) = edges.get_mut(number) {
                    list.push((target, call_number));
                }
            }
        }
        Self { edges, skills: skills.len() }
    }

    fn edges(&self, node: usize) -> &[(usize, usize)] {
        self.edges.get(node).map(Vec::as_slice).unwrap_or_default()
    }

    /// Tarjan's walk, with a stack of our own. Parts are numbered in the order in which they are done: whatever a part leads to
    /// has a lower number, so its depth is known.
    fn find_parts(&self) -> GraphParts {
        const NONE: usize = usize::MAX;
        let count = self.edges.len();
        let mut walk = GraphWalk {
            order: vec![NONE; count],
            low: vec![0; count],
            open: Vec::new(),
            result: GraphParts { part: vec![NONE; count], size: Vec::new(), depth: vec![(0, None); count] },
        };
        let mut next = 0;
        // A node, and how many of its edges were followed.
        let mut stack: Vec<(usize, usize)> = Vec::new();
        for root in 0..count {
            if walk.order.get(root) != Some(&NONE) {
                continue;
            }
            stack.push((root, 0));
            while let Some((node, followed)) = stack.pop() {
                if followed == 0 {
                    set(&mut walk.order, node, next);
                    set(&mut walk.low, node, next);
                    next += 1;
                    walk.open.push(node);
                }
                if let Some((target, _)) = self.edges(node).get(followed) {
                    stack.push((node, followed + 1));
                    if get(&walk.order, *target) == NONE {
                        stack.push((*target, 0));
                    } else if get(&walk.result.part, *target) == NONE {
                        let low = get(&walk.low, node).min(get(&walk.order, *target));
                        set(&mut walk.low, node, low);
                    }
                    continue;
                }
                if get(&walk.low, node) == get(&walk.order, node) {
                    self.close(node, &mut walk);
                }
                if let Some((caller, _)) = stack.last() {
                    let low = get(&walk.low, *caller).min(get(&walk.low, node));
                    set(&mut walk.low, *caller, low);
                }
            }
        }
        walk.result
    }

    /// Takes a finished part off the open nodes, and measures how deep it goes on.
    fn close(&self, root: usize, walk: &mut GraphWalk) {
        let from = walk.open.iter().rposition(|node| *node == root).unwrap_or(0);
        let members = walk.open.split_off(from);
        let result = &mut walk.result;
        let part = result.size.len();
        for node in &members {
            set(&mut result.part, *node, part);
        }
        result.size.push(members.iter().filter(|node| **node < self.skills).count());
        for node in &members {
            let mut deepest = (0, None);
            for (target, _) in self.edges(*node) {
                if get(&result.part, *target) == part {
                    continue;
                }
                let (below, _) = result.depth.get(*target).copied().unwrap_or_default();
                // A name that several share is no step of its own.
                let depth = if *node < self.skills { below.saturating_add(1) } else { below };
                if depth > deepest.0 || deepest.1.is_none() {
                    deepest = (depth, Some(*target));
                }
            }
            if let Some(slot) = result.depth.get_mut(*node) {
                *slot = deepest;
            }
        }
    }

    /// Whether a skill is in a ring: the call that leads into it, and the ring in words.
    fn find_ring<'s>(
        &self,
        skills: &'s [SkillCalls],
        parts: &GraphParts,
        number: usize,
    ) -> Option<(&'s FoundCall, String)> {
        let part = get(&parts.part, number);
        let inside = |node: usize| get(&parts.part, node) == part;
        let (_, call) = self.edges(number).iter().find(|(target, _)| inside(*target))?;
        let call = skills.get(number)?.others.get(*call)?;
        let size = parts.size.get(part).copied().unwrap_or(0);
        let why = match self.way_back(number, &inside) {
            Some(way) => {
                let names = way.iter().chain([&number]).map(|node| name(skills, *node));
                format!("It calls itself in a ring: {}", names.collect::<Vec<_>>().join(" → "))
            }
            None => format!("It is one of {size} skills that lead back to each other"),
        };
        Some((call, why))
    }

    /// The shortest way from a node back to itself, as far as it is looked for.
    fn way_back(&self, start: usize, inside: &dyn Fn(usize) -> bool) -> Option<Vec<usize>> {
        let mut came_from: HashMap<usize, usize> = HashMap::new();
        let mut queue = VecDeque::from([(start, 0)]);
        let mut looked_at = 0;
        while let Some((node, skills_before)) = queue.pop_front() {
            let length = skills_before + usize::from(node < self.skills);
            if length > SHOWN {
                return None;
            }
            for (target, _) in self.edges(node) {
                looked_at += 1;
                if *target == start {
                    let mut way = vec![node];
                    while let Some(before) = came_from.get(way.last()?) {
                        way.push(*before);
                    }
                    way.retain(|node| *node < self.skills);
                    way.reverse();
                    return Some(way);
                }
                if looked_at > SEARCHED {
                    return None;
                }
                if inside(*target) && !came_from.contains_key(target) {
                    came_from.insert(*target, node);
                    queue.push_back((*target, length));
                }
            }
        }
        None
    }

    /// Whether a chain of calls from a skill goes deep: its first call, and the chain in words.
    fn find_chain<'s>(
        &self,
        skills: &'s [SkillCalls],
        parts: &GraphParts,
        number: usize,
    ) -> Option<(&'s FoundCall, String)> {
        let (depth, mut next) = parts.depth.get(number).copied()?;
        if depth <= MAX_DEPTH {
            return None;
        }
        let (_, call) = self.edges(number).iter().find(|(target, _)| Some(*target) == next)?;
        let call = skills.get(number)?.others.get(*call)?;
        let mut names = vec![name(skills, number)];
        while let Some(node) = next.filter(|_| names.len() < SHOWN) {
            if node < self.skills {
                names.push(name(skills, node));
            }
            next = parts.depth.get(node).and_then(|(_, next)| *next);
        }
        let more = if next.is_some() { " → …" } else { "" };
        Some((call, format!("A chain of {depth} calls begins here: {}{more}", names.join(" → "))))
    }
}

/// A walk under way.
struct GraphWalk {
    order: Vec<usize>,
    low: Vec<usize>,
    open: Vec<usize>,
    result: GraphParts,
}

fn get(list: &[usize], at: usize) -> usize {
    list.get(at).copied().unwrap_or(usize::MAX)
}

fn set(list: &mut [usize], at: usize, value: usize) {
    if let Some(slot) = list.get_mut(at) {
        *slot = value;
    }
}

/// A skill's name as a sentence can hold it.
fn name(skills: &[SkillCalls], number: usize) -> String {
    let name = skills.get(number).map_or("", |skill| skill.skill.as_str());
    crate::finding::snippet(name.get(..name.floor_char_boundary(60)).unwrap_or_default().as_bytes())
}

/// The folders above a place, nearest first, as hashes; the last is above everything.
fn list_folders(place: &str) -> impl Iterator<Item = u64> {
    let parents =
        std::iter::successors(place.trim_end_matches('/').rsplit_once('/').map(|(above, _)| above), |path| {
            path.rsplit_once('/').map(|(above, _)| above)
        });
    let hash = |path: &str| {
        let mut hash = DefaultHasher::new();
        path.hash(&mut hash);
        hash.finish()
    };
    parents.filter(|path| !path.is_empty()).take(MAX_FOLDERS).map(hash).chain([0])
}
