//! What a variable may hold, as far as it matters: texts, names of libraries' things, objects, functions, and what it was made of.

use std::collections::BTreeMap;
use std::rc::Rc;

/// Most texts that a value is followed as.
const MAX_TEXTS: usize = 8;
/// Longest text that is followed.
pub(crate) const MAX_TEXT: usize = 64 * 1024;
/// Longest name of a library's thing.
const MAX_SYMBOL: usize = 160;
/// Most objects that are looked into for one question.
const MAX_VISITS: usize = 200;

/// What stands for a part of a text that is not known.
pub(crate) const UNKNOWN: &str = "*";

/// The number of an object.
pub(crate) type ObjectId = u32;
/// The number of an origin.
pub(crate) type OriginId = u16;

/// What a value was made of: numbers of origins, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Origins(Vec<OriginId>);

impl Origins {
    pub(crate) fn one(id: OriginId) -> Self {
        Self(vec![id])
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for id in &other.0 {
            if let Err(at) = self.0.binary_search(id) {
                self.0.insert(at, *id);
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = OriginId> + '_ {
        self.0.iter().copied()
    }

    /// Those of them that something holds of.
    pub(crate) fn filter(&self, holds: impl Fn(OriginId) -> bool) -> Self {
        Self(self.0.iter().copied().filter(|id| holds(*id)).collect())
    }
}

/// A function that can be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FunctionValue {
    pub(crate) program: usize,
    pub(crate) function: u32,
    /// The variables round it.
    pub(crate) frame: ObjectId,
    /// The object that it is called on.
    pub(crate) this: Option<ObjectId>,
}

/// What a variable may hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Value {
    /// What its text may be, with `*` for parts that are not known; none where nothing is known.
    pub(crate) texts: Vec<Rc<str>>,
    /// The thing of a library that it is: `requests.post`, `requests.Session()`.
    pub(crate) symbol: Option<Rc<str>>,
    pub(crate) origins: Origins,
    pub(crate) object: Option<ObjectId>,
    pub(crate) function: Option<FunctionValue>,
    /// The class that it is.
    pub(crate) class: Option<(usize, u32, ObjectId)>,
    /// Whether it stands for all elements whose names are not known.
    pub(crate) is_rest: bool,
}

impl Value {
    pub(crate) fn text(text: impl Into<Rc<str>>) -> Self {
        Self { texts: vec![text.into()], ..Self::default() }
    }

    pub(crate) fn symbol(name: impl Into<Rc<str>>) -> Self {
        Self { symbol: Some(name.into()), ..Self::default() }
    }

    /// Something of which only is known what it was made of.
    pub(crate) fn made_of(origins: Origins) -> Self {
        Self { origins, ..Self::default() }
    }

    pub(crate) fn with_origins(mut self, origins: &Origins) -> Self {
        self.origins.add(origins);
        self
    }

    /// Its only text.
    pub(crate) fn known_text(&self) -> Option<&str> {
        match self.texts.as_slice() {
            [one] if !one.contains('*') => Some(one),
            _ => None,
        }
    }

    /// Its first text, or `*`.
    pub(crate) fn first_text(&self) -> &str {
        self.texts.first().map_or(UNKNOWN, |text| text)
    }

    /// Either of two values.
    pub(crate) fn join(&mut self, other: &Self) {
        for text in &other.texts {
            if self.texts.len() < MAX_TEXTS && !self.texts.contains(text) {
                self.texts.push(Rc::clone(text));
            }
        }
        if self.symbol.is_none() {
            self.symbol.clone_from(&other.symbol);
        }
        self.origins.add(&other.origins);
        self.object = self.object.or(other.object);
        self.function = self.function.or(other.function);
        self.class = self.class.or(other.class);
    }

    /// Texts put one behind the other.
    pub(crate) fn concat(&mut self, other: &Self, between: &str) {
        let unknown = [Rc::from(UNKNOWN)];
        let left: &[Rc<str>] = if self.texts.is_empty() { &unknown } else { &self.texts };
        let right: &[Rc<str>] = if other.texts.is_empty() { &unknown } else { &other.texts };
        let mut texts: Vec<Rc<str>> = Vec::new();
        'all: for one in left {
            for two in right {
                if texts.len() >= MAX_TEXTS {
                    break 'all;
                }
                let room = MAX_TEXT.saturating_sub(one.len());
                let two = if two.len() > room { UNKNOWN } else { two };
                // Parts that are not known need to be there only once.
                let joined = if one.ends_with('*') && two == UNKNOWN && between.is_empty() {
                    one.to_string()
                } else {
                    format!("{one}{between}{two}")
                };
                texts.push(joined.into());
            }
        }
        self.texts = texts;
        self.origins.add(&other.origins);
    }
}

/// Something that has fields: a dict, a list, an instance, the variables of a function or a module.
#[derive(Debug, Default)]
pub(crate) struct Object {
    pub(crate) fields: BTreeMap<Rc<str>, Value>,
    /// What it holds under names that are not known, and its elements.
    pub(crate) rest: Value,
    /// The variables round it, of a frame.
    pub(crate) parent: Option<ObjectId>,
    /// The class it was made of.
    pub(crate) class: Option<(usize, u32, ObjectId)>,
    /// Whether it is a list, whose fields are its elements by their number.
    pub(crate) is_list: bool,
}

/// All objects.
#[derive(Debug, Default)]
pub(crate) struct Heap {
    objects: Vec<Object>,
}

impl Heap {
    pub(crate) fn add(&mut self, object: Object) -> ObjectId {
        let id = u32::try_from(self.objects.len()).unwrap_or(u32::MAX);
        self.objects.push(object);
        id
    }

    pub(crate) fn len(&self) -> usize {
        self.objects.len()
    }

    pub(crate) fn get(&self, id: ObjectId) -> Option<&Object> {
        self.objects.get(id as usize)
    }

    pub(crate) fn get_mut(&mut self, id: ObjectId) -> Option<&mut Object> {
        self.objects.get_mut(id as usize)
    }

    /// A field of an object.
    pub(crate) fn field(&self, id: ObjectId, name: &str) -> Option<&Value> {
        self.get(id)?.fields.get(name)
    }

    /// The object of a value; one is made where there is none.
    pub(crate) fn object_of(&mut self, value: &mut Value) -> ObjectId {
        if let Some(id) = value.object {
            return id;
        }
        let id = self.add(Object::default());
        value.object = Some(id);
        id
    }

    /// Everything that a value was made of, with what lies in it.
    pub(crate) fn deep_origins(&self, value: &Value) -> Origins {
        let mut all = value.origins.clone();
        self.visit(value, |inner| all.add(&inner.origins));
        all
    }

    /// Shows everything that lies in a value.
    pub(crate) fn visit(&self, value: &Value, mut see: impl FnMut(&Value)) {
        let mut seen: Vec<ObjectId> = Vec::new();
        let mut pending: Vec<ObjectId> = value.object.into_iter().collect();
        while let Some(id) = pending.pop() {
            if seen.contains(&id) || seen.len() >= MAX_VISITS {
                continue;
            }
            seen.push(id);
            let Some(object) = self.get(id) else { continue };
            let rest = Value { is_rest: true, ..object.rest.clone() };
            for inner in object.fields.values().chain([&rest]) {
                see(inner);
                pending.extend(inner.object);
            }
        }
    }

    /// Any element of a value.
    pub(crate) fn element(&self, value: &Value) -> Value {
        let mut any = Value { origins: value.origins.clone(), ..Value::default() };
        if let Some(object) = value.object.and_then(|id| self.get(id)) {
            if object.is_list {
                for inner in object.fields.values() {
                    any.join(inner);
                }
            } else {
                // The keys of a dict.
                for key in object.fields.keys().take(MAX_TEXTS) {
                    any.join(&Value::text(Rc::clone(key)));
                }
            }
            any.join(&object.rest);
        }
        any
    }
}

/// The name of a part of a library's thing.
pub(crate) fn extend_symbol(symbol: &str, part: &str) -> Option<Rc<str>> {
    // Ways to say the same.
    if matches!(part, "default" | "promises") {
        return Some(symbol.into());
    }
    if matches!(symbol, "globalThis" | "window" | "global" | "builtins" | "__builtins__") {
        return Some(part.into());
    }
    (symbol.len() + part.len() < MAX_SYMBOL).then(|| format!("{symbol}.{part}").into())
}
