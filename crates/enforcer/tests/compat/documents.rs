//! What makes pictures and documents, and keeps its settings outside /usr.

use crate::case::Case;

fn shell(name: &str, text: &str) -> Case {
    Case::script("sh", name, text)
}

/// Other programs are called `convert` too, so its sisters must be there.
#[test]
fn imagemagick_draws_text_and_keeps_its_own_rules() {
    let text = "set -eu\nconvert -size 100x40 xc:white -pointsize 20 -annotate +5+25 hello a.png\n\
                convert a.png -resize 50% b.jpg\nidentify -format '%m %w %h\\n' a.png b.jpg\n";
    let case = shell("draw.sh", text).needs(["convert", "identify", "mogrify"]);
    case.prints("PNG 100 40\nJPEG 50 20\n");
    let rules = |case: Case| case.args(["-list", "policy"]).needs(["mogrify"]);
    let outside = std::process::Command::new("identify").args(["-list", "policy"]).output();
    if let Ok(outside) = outside {
        rules(Case::new("identify")).prints(&String::from_utf8(outside.stdout).unwrap());
    }
}

#[test]
fn latex_makes_a_pdf_that_others_read() {
    let tex = "\\documentclass{article}\\pagestyle{empty}\\begin{document}Hello\\end{document}\n";
    let text = "set -eu\npdflatex -interaction=batchmode text.tex > tex.txt\npdftotext text.pdf - | head -n 1\n\
                pdftoppm -r 50 -png text.pdf page\nls page*.png | wc -l\n";
    let case = shell("tex.sh", text).needs(["pdflatex", "pdftotext", "pdftoppm"]);
    case.file("text.tex", tex).prints("Hello\n1\n");
}

#[test]
fn ghostscript_makes_a_picture() {
    let text = "set -eu\ngs -q -dNOPAUSE -dBATCH -sDEVICE=pngmono -r50 -sOutputFile=page.png page.ps\n\
                head -c 4 page.png | tail -c 3\n";
    let page = "%!PS\n/Helvetica findfont 20 scalefont setfont 72 72 moveto (hello) show showpage\n";
    shell("gs.sh", text).needs(["gs"]).file("page.ps", page).prints("PNG");
}

#[test]
fn pandoc_makes_a_document_and_reads_it_back() {
    let text = "set -eu\npandoc text.md -o text.docx\npandoc text.docx -t plain\n";
    shell("pandoc.sh", text)
        .needs(["pandoc"])
        .file("text.md", "# Title\n\nA *word*.\n")
        .prints("Title\n\nA word.\n");
}

#[test]
fn libreoffice_converts_a_document() {
    let text = "set -eu\nsoffice --headless --convert-to pdf text.txt > log.txt 2>&1\nhead -c 5 text.pdf\n";
    shell("office.sh", text).needs(["soffice"]).file("text.txt", "Hello\n").prints("%PDF-");
}

#[test]
fn ffmpeg_encodes_and_decodes() {
    let text = "set -eu\nffmpeg -loglevel error -nostdin -f lavfi -i testsrc=duration=1:size=64x64:rate=5 video.mp4\n\
                ffmpeg -loglevel error -nostdin -i video.mp4 -vf scale=32:32 picture.gif\nhead -c 3 picture.gif\n";
    shell("video.sh", text).needs(["ffmpeg"]).prints("GIF");
}

#[test]
fn graphviz_lays_a_graph_out() {
    let text = "echo 'digraph { a -> b }' | dot -Tsvg | grep -c '<title>'\n";
    shell("dot.sh", text).needs(["dot"]).prints("4\n");
}
