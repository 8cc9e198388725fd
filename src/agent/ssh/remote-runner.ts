/**
 * The runner for nodes without an agent: plain `sh`, with `flock`, `setsid` and coreutils. Each execution's folder has
 * a copy of it, which runs the execution to completion whether or not anyone is connected.
 *
 * Files of an execution's folder: `execution` (the intent), `claim` (the process that runs it; linked once, so it runs
 * once), `sessions`, `known` (processes last seen, without cgroups), `details` (`key=value` lines of the task's
 * script), `stdout`, `stderr`, `cancel`, `exit` (the only result, `key=value` lines).
 */

/** Shared by runner and connections: finds and ends the processes of an execution. `$dir` is its folder. */
export const COMMON = `
boot_id() { cat /proc/sys/kernel/random/boot_id; }
start_of() { # pid; its start time, nothing if it is gone
  stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
  stat=\${stat##*) }
  set -- $stat
  [ "$1" != Z ] && echo "\${20}"
}
is_count() { case $1 in '' | *[!0-9]*) return 1 ;; esac; }
read_claim() { # sets pid, start and boot; 1: it is unreadable
  pid= start= boot=
  read -r pid start boot 2>/dev/null <"$dir/claim"
  is_count "$pid" && is_count "$start" && [ \${#boot} -eq 36 ]
}
supervised() { # 0: its runner is running; 1: it is gone; 2: never claimed
  [ -e "$dir/claim" ] || return 2
  if read_claim; then
    [ "$boot" = "$(boot_id)" ] && [ "$(start_of "$pid")" = "$start" ]
    return
  fi
  # The leader of the session that runs its copy of the runner.
  pid=$(processes | while read -r process parent session born; do
    [ "$process" = "$session" ] && tr '\\0' '\\n' <"/proc/$process/cmdline" 2>/dev/null | grep -qxF "$dir/runner.sh" && echo "$process"
  done | head -n 1)
  [ -n "$pid" ]
}
has_result() { # whether \`exit\` is there, and whole
  [ -e "$dir/exit" ] || return 1
  for wanted in 'cause=[a-z]' itemized= ended= boot=; do grep -qa "^$wanted" "$dir/exit" || return 1; done
}
processes() { # all running ones, a line each: pid, parent, session, start time
  for file in /proc/[0-9]*/stat; do
    text=
    # A name may contain anything, even newlines.
    { while IFS= read -r line || [ -n "$line" ]; do text="$text $line"; done <"$file"; } 2>/dev/null
    file=\${file#/proc/}
    set -- \${text##*) }
    case $1 in '' | Z | X) continue ;; esac
    echo "\${file%/stat} $2 $4 \${20}"
  done
}
members() { # processes of the task: by its cgroup, its mark, its sessions, and by descent
  all=$(processes)
  ours=" $(
    {
      group=$(cat "$dir/group") && cat "$group/cgroup.procs"
      grep -lF "SITEWRIGHT_EXECUTION=$mark" /proc/[0-9]*/environ | sed -n 's|^/proc/\\([0-9]*\\)/environ$|\\1|p'
    } 2>/dev/null | tr '\\n' ' '
  )"
  sessions=" $({ tr '\\n' ' ' <"$dir/sessions"; } 2>/dev/null)"
  # The runner adopts orphans (see RUNNER), so its descendants are complete; its helpers share its session.
  runner=
  if supervised; then runner=$pid; else known=" $({ tr '\\n' ' ' <"$dir/known"; } 2>/dev/null)"; fi
  before=
  while [ "$ours" != "$before" ]; do
    before=$ours
    while read -r process parent session born; do
      case $ours in *" $process "*) continue ;; esac
      if [ -n "$runner" ]; then
        [ "$process" = "$runner" ] && { ours="$ours$process "; continue; }
      else
        case $known in *" $process:$born "*) ours="$ours$process "; continue ;; esac
      fi
      case $ours in *" $parent "*) ours="$ours$process "; continue ;; esac
      case $sessions in *" $session "*) ours="$ours$process " ;; esac
    done <<PROCESSES
$all
PROCESSES
  done
  while read -r process parent session born; do
    [ "$session" = "$runner" ] && continue
    case $ours in *" $process "*) echo "$process" ;; esac
  done <<PROCESSES
$all
PROCESSES
}
remember() { # for the caller that ends the processes of a killed runner
  living=" $(members | tr '\\n' ' ')"
  processes | while read -r process parent session born; do
    case $living in *" $process "*) echo "$process:$born" ;; esac
  done >"$dir/.known" && mv "$dir/.known" "$dir/known"
}
send() { for member in $(members); do kill "-$1" "$member" 2>/dev/null; done; }
end_all() { # grace period in seconds; sets found, survivors, strongest
  found=$(members | wc -l)
  survivors=$found
  strongest=
  [ "$found" -eq 0 ] && return
  strongest=SIGTERM
  send TERM
  looks=$(($1 * 5))
  while [ -n "$(members)" ] && [ "$looks" -gt 0 ]; do sleep 0.2; looks=$((looks - 1)); done
  looks=25
  while [ -n "$(members)" ] && [ "$looks" -gt 0 ]; do strongest=SIGKILL; send KILL; sleep 0.2; looks=$((looks - 1)); done
  survivors=$(members | wc -l)
}
first() { # name, content on stdin; the first one counts
  cat >"$dir/.$1.$$" && sync "$dir/.$1.$$" 2>/dev/null
  ln "$dir/.$1.$$" "$dir/$1" 2>/dev/null
  made=$?
  rm -f "$dir/.$1.$$"
  return $made
}
output_record() {
  for stream in stdout stderr; do
    echo "bytes_$stream=$(wc -c <"$dir/$stream" 2>/dev/null || echo 0)"
    echo "dropped_$stream=$(cat "$dir/dropped.$stream" 2>/dev/null || echo 0)"
    echo "tail_$stream=$(tail -c 4000 "$dir/$stream" 2>/dev/null | base64 | tr -d '\\n')"
  done
  echo "itemized=$(grep -acE '^([<>ch*][fdLDS.]|[*]deleting)' "$dir/stdout" 2>/dev/null)"
}
moment() { date -u +%Y-%m-%dT%H:%M:%SZ; }
settle() { # ends an execution whose runner is gone; sets aside what is damaged
  supervised
  gone=$? damage=
  # After that look: a runner that was found gone has written its result before.
  has_result && return
  [ -e "$dir/exit" ] && damage=exit
  [ "$gone" -eq 2 ] || read_claim || damage="$damage claim"
  [ "$gone" -eq 1 ] || { [ "$gone" -eq 2 ] && [ -n "$damage" ]; } || return 0
  cause=interrupted lost=supervisor-lost found=0 survivors=0 strongest=
  if [ -z "$boot" ] || [ "$boot" = "$(boot_id)" ] || [ -n "$damage" ]; then end_all 0; else lost=reboot; fi
  rm -rf "$scratch"
  for part in $damage; do
    cause=damaged
    ln "$dir/$part" "$dir/$part.unreadable" 2>/dev/null
  done
  # Another connection may have replaced it. The claim stays, too: it says that the execution has started.
  [ "$dir/exit" -ef "$dir/exit.unreadable" ] && rm -f "$dir/exit"
  { echo "cause=$cause"; echo "lost=$lost"; echo "damage=$damage"; cat "$dir/tries" 2>/dev/null; output_record; echo "found=$found"; echo "survivors=$survivors"; echo "strongest=$strongest"; echo "ended=$(moment)"; echo "boot=$(boot_id)"; } | first exit
}
`;

/**
 * The runner. `$1` is the folder; its file `settings` has the limits: `whole`, `each` and `lock_wait` in hundredths of a
 * second by the monotonic clock (0: no limit), `interval` in fifths of a second. It ends with the task, and leaves only
 * processes that the task left running on purpose.
 */
export const RUNNER = `dir=$1
# This process, not init, adopts orphans of the task, so that a process cannot hide by clearing its environment and
# starting a session. The shell has no command for it (prctl 36, PR_SET_CHILD_SUBREAPER).
if [ "$2" != adopting ]; then
  case $(uname -m) in
    x86_64) call=157 ;;
    aarch64 | riscv64 | loongarch64) call=167 ;;
    ppc64*) call=171 ;;
    s390x | i?86 | arm*) call=172 ;;
    *) call= ;;
  esac
  if [ -n "$call" ] && command -v perl >/dev/null; then
    exec perl -e 'syscall(0 + shift, 36, 1, 0, 0, 0); exec @ARGV' "$call" sh "$0" "$dir" adopting
  elif command -v python3 >/dev/null; then
    exec python3 -c 'import ctypes, os, sys; ctypes.CDLL(None).prctl(36, 1, 0, 0, 0); os.execvp(sys.argv[1], sys.argv[1:])' sh "$0" "$dir" adopting
  fi
fi
. "$dir/settings"
${COMMON}
now() { read -r up rest </proc/uptime; now=\${up%.*}\${up#*.}; }
write_exit() { # cause, code
  end_of_output
  {
    echo "cause=$1"
    echo "code=$2"
    echo "started=$started"
    echo "ended=$(moment)"
    echo "boot=$(boot_id)"
    cat "$dir/tries" 2>/dev/null
    echo "found=$found"
    echo "survivors=$survivors"
    echo "group=$group"
    echo "strongest=$strongest"
    echo "left=$(members | wc -l)"
    output_record
    cat "$dir/details" 2>/dev/null
  } | first exit
  rm -rf "$scratch"
  [ -z "$group" ] || rmdir "$group" 2>/dev/null
  exit 0
}
end_of_output() { # does not wait for daemons that keep it open
  exec 7>&- 8>&-
  looks=10
  while [ "$looks" -gt 0 ] && { kill -0 "$reader_out" || kill -0 "$reader_err"; } 2>/dev/null; do sleep 0.2; looks=$((looks - 1)); done
}
cd / || exit 1
umask 077
echo "$$ $(start_of $$) $(boot_id)" | first claim || exit 0
found=0 survivors=0 strongest= started=$(moment) number=0
: >"$dir/sessions"
# Where cgroups can be created, no process leaves one; the task enters its own.
for mount in /sys/fs/cgroup /sys/fs/cgroup/unified; do
  [ -w "$mount/cgroup.procs" ] && mkdir "$mount/sitewright-$mark" 2>/dev/null && echo "$mount/sitewright-$mark" >"$dir/group"
done
group=$(cat "$dir/group" 2>/dev/null)
rm -f "$dir/.out" "$dir/.err"
mkfifo "$dir/.out" "$dir/.err"
# Output over the limit is read, counted and dropped: a full pipe would block the task.
unbuffered=$(command -v stdbuf >/dev/null && echo 'stdbuf -o0')
{ $unbuffered head -c "$limit" >"$dir/stdout"; wc -c >"$dir/dropped.stdout"; } <"$dir/.out" 2>/dev/null &
reader_out=$!
{ $unbuffered head -c "$limit" >"$dir/stderr"; wc -c >"$dir/dropped.stderr"; } <"$dir/.err" 2>/dev/null &
reader_err=$!
exec 7>"$dir/.out" 8>"$dir/.err"
rm -f "$dir/.out" "$dir/.err"
# One execution at a time on a node, agents included. Polled, so that a cancellation is seen meanwhile.
exec 9>>"$lock"
now; lock_deadline=$((now + lock_wait))
until flock -n 9; do
  [ -e "$dir/cancel" ] && write_exit cancel 0
  now; [ "$now" -ge "$lock_deadline" ] && write_exit busy 0
  sleep 0.2
done
now; deadline=$((now + whole))
started=$(moment)
while :; do
  [ -e "$dir/cancel" ] && write_exit cancel 0
  number=$((number + 1))
  try_started=$(moment)
  now; try_ends=$((now + each))
  mkdir -p "$dir/try-$number"
  rm -f "$dir/code"
  # The task does not inherit the runner's descriptors; its session is recorded before it starts.
  ( setsid sh "$dir/start.sh" "$dir" "$number" </dev/null >&7 2>&8 7>&- 8>&- 9>&-; echo $? >"$dir/.code"; mv "$dir/.code" "$dir/code" ) &
  waiter=$!
  cause= turns=0
  while [ ! -e "$dir/code" ]; do
    now
    [ -z "$group" ] && [ $((turns % 10)) -eq 0 ] && remember
    turns=$((turns + 1))
    kill -0 "$waiter" 2>/dev/null || [ -e "$dir/code" ] || echo 137 >"$dir/code"
    if [ -z "$cause" ]; then
      if [ -e "$dir/cancel" ]; then cause=cancel
      elif [ "$whole" -gt 0 ] && [ "$now" -ge "$deadline" ]; then cause=timeout
      elif [ "$each" -gt 0 ] && [ "$now" -ge "$try_ends" ]; then cause=try-timeout
      fi
      [ -n "$cause" ] && end_all "$grace"
    fi
    sleep 0.1
  done
  code=$(cat "$dir/code")
  echo "try=$try_started $(moment) $code $cause" >>"$dir/tries"
  fine=no
  for good in $good_codes; do [ "$code" = "$good" ] && fine=yes; done
  [ "$fine" = yes ] && write_exit done "$code"
  case $cause in cancel | timeout) write_exit "$cause" "$code" ;; esac
  for good in $final_codes; do [ "$code" = "$good" ] && write_exit done "$code"; done
  [ "$number" -gt "$retries" ] && write_exit "\${cause:-done}" "$code"
  looks=$interval
  while [ "$looks" -gt 0 ] && [ ! -e "$dir/cancel" ]; do
    now; [ "$whole" -gt 0 ] && [ "$now" -ge "$deadline" ] && write_exit timeout "$code"
    sleep 0.2; looks=$((looks - 1))
  done
done
`;
