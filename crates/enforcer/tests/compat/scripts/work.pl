use strict;
use warnings;
use Digest::SHA qw(sha256_hex);
use IO::Socket::INET;

pipe(my $read, my $write) or die $!;
my $pid = fork() // die $!;
if (!$pid) {
    print $write "42\n";
    close $write;
    exit 0;
}
close $write;
chomp(my $line = <$read>);
waitpid $pid, 0;
print "child $line\n";

my $server = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1', Proto => 'tcp') or die $@;
my $client = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $server->sockport) or die $@;
my $peer = $server->accept;
print $peer "hello\n";
close $peer;
print "socket ", scalar <$client>;

print "sorted @{[sort { $a <=> $b } 10, 2, 1]}\n";
print "regex $1\n" if "built in 2024" =~ /(\d+)/;
print "modules ", substr(sha256_hex('hello'), 0, 8), "\n";
print "shell ", `echo \$((2 * 3))`;
print "system ", system('sh', '-c', 'exit 3') >> 8, "\n";
