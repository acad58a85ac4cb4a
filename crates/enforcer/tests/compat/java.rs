//! Java.

use crate::case::Case;

#[test]
fn a_class_is_compiled_and_runs() {
    let case =
        Case::script("bash", "java.sh", "set -eu\njavac -J-Xmx256m Work.java\nexec java -Xmx256m Work\n");
    let case = case.needs(["javac", "java"]).file("Work.java", include_str!("scripts/Work.java"));
    case.prints("threads 4950\nfile text\nserver hello\nprocess from a child\nvirtual machine ok\n");
}

#[test]
fn a_source_file_runs_at_once() {
    let text = "class One { public static void main(String[] a) { System.out.println(\"sum \" + \
                java.util.stream.IntStream.range(0, 100).parallel().sum()); } }\n";
    Case::new("java").file("One.java", text).args(["-Xmx256m", "One.java"]).prints("sum 4950\n");
}
