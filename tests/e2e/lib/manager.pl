# A service manager in small: holds a listening socket, starts a program with it, tells what the program
# notifies. Perl, because the base system has it and Node.js has neither datagram sockets in the file system
# nor listening sockets that it leaves to others.
# usage: manager.pl DIRECTORY TYPE PROGRAM ARGS...    (TYPE: tcp, tcp6, udp or none)
# Commands on standard input: "start" (the environment of the program: lines before it, NAME=VALUE),
# "signal NAME", "end". On standard output: "port N", "pid N", "notify TEXT" (\n as \\n), "exit CODE".
use strict;
use warnings;
use IO::Select;
use POSIX ();
use Socket qw(:DEFAULT :addrinfo);
$| = 1;
my ($directory, $type, @program) = @ARGV;
my $path = "$directory/notify";
socket(my $notify, AF_UNIX, SOCK_DGRAM, 0) or die "socket: $!";
bind($notify, pack_sockaddr_un($path)) or die "bind: $!";
my $listener;
if ($type ne 'none') {
  my $six = $type eq 'tcp6';
  socket($listener, $six ? AF_INET6 : AF_INET, $type eq 'udp' ? SOCK_DGRAM : SOCK_STREAM, 0) or die "socket: $!";
  my $at = $six ? pack_sockaddr_in6(0, Socket::IN6ADDR_ANY) : pack_sockaddr_in(0, INADDR_LOOPBACK);
  bind($listener, $at) or die "bind: $!";
  if ($type ne 'udp') { listen($listener, 4096) or die "listen: $!"; }
  my ($port) = $six ? unpack_sockaddr_in6(getsockname($listener)) : unpack_sockaddr_in(getsockname($listener));
  print "port $port\n";
}
pipe(my $dead, my $dying) or die "pipe: $!";
$SIG{CHLD} = sub { syswrite($dying, '.') };
my ($pid, %environment);

sub start {
  $pid = fork() // die "fork: $!";
  return print "pid $pid\n" if $pid;
  $ENV{$_} = $environment{$_} for keys %environment;
  $ENV{NOTIFY_SOCKET} = $path;
  if ($listener) {
    my $copy = fileno($listener);
    POSIX::dup2($copy, 3) // die "dup2: $!" if $copy != 3;
    if ($copy == 3) { fcntl($listener, 2, 0) or die "fcntl: $!"; }
    $ENV{LISTEN_PID} = $$;
    $ENV{LISTEN_FDS} = 1;
  }
  open(STDIN, '<', '/dev/null');
  open(STDOUT, '>', '/dev/null');
  $^F = 3;
  exec { $program[0] } @program or POSIX::_exit(127);
}

my $all = IO::Select->new(\*STDIN, $notify, $dead);
my $buffer = '';
while (1) {
  for my $ready ($all->can_read()) {
    if ($ready == $notify) {
      recv($notify, my $text, 65536, 0) // next;
      $text =~ s/\n/\\n/g;
      print "notify $text\n";
    } elsif ($ready == $dead) {
      sysread($dead, my $byte, 1);
      while ((my $gone = waitpid(-1, POSIX::WNOHANG())) > 0) {
        print 'exit ', ($? & 127 ? 'signal ' . ($? & 127) : $? >> 8), "\n";
        $pid = undef;
      }
    } else {
      if (!sysread(STDIN, $buffer, 4096, length $buffer)) { kill('KILL', $pid) if $pid; exit 0; }
      while ($buffer =~ s/^([^\n]*)\n//) {
        my $line = $1;
        if ($line =~ /^([A-Z_]+)=(.*)$/) { $environment{$1} = $2; }
        elsif ($line eq 'start') { start(); }
        elsif ($line =~ /^signal (\w+)$/) { kill($1, $pid) if $pid; }
        elsif ($line eq 'end') { kill('KILL', $pid) if $pid; exit 0; }
      }
    }
  }
}
