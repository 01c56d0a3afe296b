# A minimal service manager: holds a listening socket, starts a program with it and reports the program's notifications.
# In Perl, because the base system has it, and Node.js supports neither Unix datagram sockets nor passing a listening
# socket to a child that is not a Node.js process.
# usage: manager.pl DIRECTORY TYPE PROGRAM ARGS...    (TYPE: tcp, tcp6, udp or none)
# Commands on standard input: NAME=VALUE (a variable for programs started later), "start",
# "signal NAME", "end". On standard output: "port N", "pid N", "notify TEXT" (\n as \\n), "exit CODE".
use strict;
use warnings;
use IO::Select;
use POSIX ();
use Socket qw(:DEFAULT :addrinfo);
$| = 1;
my ($directory, $type, @program) = @ARGV;
my $notify_path = "$directory/notify";
socket(my $notify, AF_UNIX, SOCK_DGRAM, 0) or die "socket: $!";
bind($notify, pack_sockaddr_un($notify_path)) or die "bind: $!";
my $listener;
if ($type ne 'none') {
  my $ipv6 = $type eq 'tcp6';
  socket($listener, $ipv6 ? AF_INET6 : AF_INET, $type eq 'udp' ? SOCK_DGRAM : SOCK_STREAM, 0) or die "socket: $!";
  my $address = $ipv6 ? pack_sockaddr_in6(0, Socket::IN6ADDR_ANY) : pack_sockaddr_in(0, INADDR_LOOPBACK);
  bind($listener, $address) or die "bind: $!";
  if ($type ne 'udp') { listen($listener, 4096) or die "listen: $!"; }
  my ($port) = $ipv6 ? unpack_sockaddr_in6(getsockname($listener)) : unpack_sockaddr_in(getsockname($listener));
  print "port $port\n";
}
pipe(my $child_exits, my $child_exits_writer) or die "pipe: $!";
$SIG{CHLD} = sub { syswrite($child_exits_writer, '.') };
my ($pid, %environment);

sub start {
  $pid = fork() // die "fork: $!";
  return print "pid $pid\n" if $pid;
  $ENV{$_} = $environment{$_} for keys %environment;
  $ENV{NOTIFY_SOCKET} = $notify_path;
  if ($listener) {
    my $fd = fileno($listener);
    POSIX::dup2($fd, 3) // die "dup2: $!" if $fd != 3;
    if ($fd == 3) { fcntl($listener, 2, 0) or die "fcntl: $!"; }
    $ENV{LISTEN_PID} = $$;
    $ENV{LISTEN_FDS} = 1;
  }
  open(STDIN, '<', '/dev/null');
  open(STDOUT, '>', '/dev/null');
  $^F = 3;
  exec { $program[0] } @program or POSIX::_exit(127);
}

my $select = IO::Select->new(\*STDIN, $notify, $child_exits);
my $buffer = '';
while (1) {
  for my $ready ($select->can_read()) {
    if ($ready == $notify) {
      recv($notify, my $text, 65536, 0) // next;
      $text =~ s/\n/\\n/g;
      print "notify $text\n";
    } elsif ($ready == $child_exits) {
      sysread($child_exits, my $byte, 1);
      while ((my $exited = waitpid(-1, POSIX::WNOHANG())) > 0) {
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
