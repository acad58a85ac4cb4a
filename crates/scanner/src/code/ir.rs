//! Code of every language in one small form, so that one analysis serves all: values, calls, assignments, functions, imports.
//!
//! Expressions stand in one list and name each other by number. What has no form of its own is [`Expression::Any`] of its parts: what flows into
//! one of them flows through it.

use std::borrow::Cow;
use std::ops::Range;

/// The number of an expression.
pub(crate) type ExpressionId = u32;

/// A value that is computed.
#[derive(Debug)]
pub(crate) enum Expression<'t> {
    /// A text that stands there.
    Text(Cow<'t, str>),
    /// A whole number that stands there.
    Number(i64),
    /// A variable, or a global name.
    Name(&'t str),
    /// `a.b`.
    Attribute(ExpressionId, &'t str),
    /// `a[b]`.
    Subscript(ExpressionId, ExpressionId),
    /// `a[::-1]`.
    Reversed(ExpressionId),
    /// `f(a, b, name=c)`, also `new F(a)`.
    Call { callee: ExpressionId, arguments: Vec<Argument<'t>> },
    /// Texts or lists put one behind the other: `+`, formats, templates.
    Concat(Vec<ExpressionId>),
    /// `a / b`: paths of Python.
    Divide(ExpressionId, ExpressionId),
    /// One of these, or all together in a way that is not looked at.
    Any(Vec<ExpressionId>),
    /// These are computed, and the value says nothing of them: comparisons.
    Ignored(Vec<ExpressionId>),
    /// A list, a tuple or a set.
    List(Vec<ExpressionId>),
    /// Keys and values; without a key, another one is spread out in it.
    Dict(Vec<(Option<ExpressionId>, ExpressionId)>),
    /// A function without a name.
    Function(u32),
    /// A class as a value.
    Class(u32),
    /// An assignment that has a value.
    Assign(Box<Target<'t>>, ExpressionId),
    /// `[body for target in values]`.
    Comprehension { clauses: Vec<(Target<'t>, ExpressionId)>, body: Vec<ExpressionId>, is_dict: bool },
}

/// An argument of a call.
#[derive(Debug)]
pub(crate) struct Argument<'t> {
    /// Its name, where it is given by name.
    pub(crate) name: Option<&'t str>,
    pub(crate) value: ExpressionId,
    /// Whether it is a list or a dict that is spread out.
    pub(crate) is_spread: bool,
}

/// Where a value goes.
#[derive(Debug)]
pub(crate) enum Target<'t> {
    /// A variable.
    Name(&'t str),
    /// `a.b`.
    Attribute(ExpressionId, &'t str),
    /// `a[b]`.
    Subscript(ExpressionId, ExpressionId),
    /// The elements of a list.
    Elements(Vec<Target<'t>>),
    /// The fields of an object, by their names.
    Fields(Vec<(Cow<'t, str>, Target<'t>)>),
    /// Nowhere.
    Nothing,
}

/// Something that is done.
#[derive(Debug)]
pub(crate) enum Statement<'t> {
    /// A value is computed.
    Compute(ExpressionId),
    /// A value is assigned, or added to what is there.
    Assign { target: Target<'t>, value: ExpressionId, is_added: bool, is_declared: bool },
    /// A module, or an item of it, gets a name; `*` for all items.
    Import { module: Cow<'t, str>, item: Option<Cow<'t, str>>, name: &'t str },
    /// A function gets its name.
    Function { function: u32, name: &'t str },
    /// A class gets its name.
    Class { class: u32, name: &'t str },
    /// A function ends, or yields.
    Return(ExpressionId),
    /// Each of these may happen or not.
    Branches(Vec<Vec<Statement<'t>>>),
    /// It happens again and again, for each of some values.
    Loop { target: Target<'t>, values: Option<ExpressionId>, body: Vec<Statement<'t>> },
    /// Names that are the module's.
    Global(Vec<&'t str>),
}

/// A parameter.
#[derive(Debug)]
pub(crate) struct Parameter<'t> {
    pub(crate) target: Target<'t>,
    pub(crate) default: Option<ExpressionId>,
    /// Whether it takes all arguments that are left.
    pub(crate) is_rest: bool,
}

/// A function or a method.
#[derive(Debug)]
pub(crate) struct Function<'t> {
    pub(crate) parameters: Vec<Parameter<'t>>,
    pub(crate) body: Vec<Statement<'t>>,
    /// Whether its first parameter is the object that it is called on.
    pub(crate) takes_self: bool,
}

/// A class.
#[derive(Debug)]
pub(crate) struct Class<'t> {
    pub(crate) bases: Vec<ExpressionId>,
    pub(crate) methods: Vec<(&'t str, u32)>,
    pub(crate) body: Vec<Statement<'t>>,
}

/// The language that a piece of code is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Language {
    Python,
    JavaScript,
    TypeScript,
    Tsx,
}

/// A piece of code in the common form.
#[derive(Debug)]
pub(crate) struct Program<'t> {
    pub(crate) language: Language,
    pub(crate) expressions: Vec<Expression<'t>>,
    /// Where each expression stands.
    pub(crate) ranges: Vec<Range<u32>>,
    pub(crate) functions: Vec<Function<'t>>,
    pub(crate) classes: Vec<Class<'t>>,
    pub(crate) body: Vec<Statement<'t>>,
    /// Whether a bound was met, so that not all of it is here.
    pub(crate) is_cut: bool,
}

impl<'t> Program<'t> {
    /// An expression by its number.
    pub(crate) fn expression(&self, id: ExpressionId) -> Option<&Expression<'t>> {
        self.expressions.get(id as usize)
    }

    /// Where an expression stands.
    pub(crate) fn range(&self, id: ExpressionId) -> Range<usize> {
        self.ranges.get(id as usize).map_or(0..0, |range| range.start as usize..range.end as usize)
    }
}
