# A cable between two network devices that loses and delays packets, for machines whose kernel has no netem.
# Arguments: name and name of the two devices, seed. Prints "ready" once both are there; they go when this ends, which
# it does at the end of its input. Lines of input: `weather LOSS DELAY TO FROM`: share of packets that are lost,
# milliseconds that the others take, and 0 where nothing gets through from the first device to the second, or back.
use strict;
use warnings;
use Fcntl;
use Time::HiRes 'time';

my ($near, $far, $seed) = @ARGV;
srand $seed;
$| = 1;

sub device {
  my ($name) = @_;
  sysopen my $file, '/dev/net/tun', O_RDWR | O_NONBLOCK or die "/dev/net/tun: $!\n";
  # TUNSETIFF with IFF_TUN | IFF_NO_PI: plain IP packets.
  my $request = pack 'a16 S x22', $name, 0x1001;
  ioctl $file, 0x400454ca, $request or die "$name: $!\n";
  return $file;
}

my @ends = (device($near), device($far));
my ($loss, $delay, @open) = (0, 0, 1, 1);
my @under_way;
print "ready\n";

for (;;) {
  my $wanted = '';
  vec($wanted, fileno $_, 1) = 1 for @ends, *STDIN;
  my $wait = @under_way ? $under_way[0][0] - time : undef;
  $wait = 0 if defined $wait && $wait < 0;
  select my $ready = $wanted, undef, undef, $wait;
  while (@under_way && $under_way[0][0] <= time) {
    my (undef, $to, $packet) = @{ shift @under_way };
    # A device that is down takes nothing: the packet is lost, as on a real cable.
    syswrite $ends[$to], $packet;
  }
  for my $from (0, 1) {
    next unless vec $ready, fileno $ends[$from], 1;
    while (sysread $ends[$from], my $packet, 65_536) {
      next if !$open[$from] || rand() < $loss;
      push @under_way, [time + $delay / 1000, 1 - $from, $packet];
    }
  }
  if (vec $ready, fileno STDIN, 1) {
    my $line = '';
    sysread STDIN, $line, 4096 or exit;
    for (split /\n/, $line) {
      (undef, $loss, $delay, @open) = split / /;
      # Packets never overtake each other here: what was slower is not waited for.
      $_->[0] = time + $delay / 1000 < $_->[0] ? time + $delay / 1000 : $_->[0] for @under_way;
      print "set\n";
    }
  }
}
