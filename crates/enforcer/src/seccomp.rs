use serde::Serialize;
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Profile {
    #[default]
    Default,
    Strict,
    Permissive,
}
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    Errno,
}
#[derive(Debug, Clone)]
pub(crate) struct Program(Vec<u8>);
impl Program {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}
#[derive(Debug, thiserror::Error)]
#[error("stub")]
pub(crate) struct CompileError;
pub(crate) fn compile(_: Profile, _: Refusal) -> Result<Program, CompileError> {
    Ok(Program(vec![6, 0, 0, 0, 0, 0, 0xff, 0x7f]))
}
