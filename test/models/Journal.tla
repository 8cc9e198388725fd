------------------------------ MODULE Journal ------------------------------
(***************************************************************************)
(* One task of a run on one node: its attempts, which are generations, and *)
(* the journal by which the node carries out each at most once             *)
(* (src/agent/journal.ts, node-agent.ts, supervision.ts, settle.ts,        *)
(* carry-out-order.ts). The agent and the supervisors of a task are        *)
(* processes that die, stall and wake up late, and the power fails. A file *)
(* that was created is "seen" by all at once, and "kept" over a power cut  *)
(* only after it was synced.                                               *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
  Generations,  \* attempts: 1 up to some number
  Followers,    \* names of tries of the activity in agents, so many at once
  Supervisors,  \* names of their processes, so many at once
  PowerCuts,    \* how often the power fails
  Failures,     \* how often something fails: power cuts, kills, lost answers
  Faults        \* defects put back, to see that they are found

VARIABLES
  asked,      \* the newest generation that the workflow asked for
  answer,     \* of each generation: what the workflow heard, or decided without the node
  files,      \* of each generation, its files
  followers,  \* tries of the activity, by their names
  running,    \* generations of which processes of the task run
  supervisors,\* by their names
  lock,       \* the supervisor that has the node, or ""
  starts,     \* how often each generation's task has begun
  count,      \* power cuts, and all failures
  broken      \* promises that were broken

vars == <<asked, answer, files, followers, running, supervisors, lock, starts, count, broken>>

Fault(name) == name \in Faults
NoFiles == [execution |-> "no", claim |-> "no", cancel |-> "no", exit |-> "no", outcome |-> "", owner |-> ""]

Init ==
  /\ asked = 0
  /\ answer = [g \in Generations |-> "none"]
  /\ files = [g \in Generations |-> NoFiles]
  /\ followers = <<>>
  /\ running = {}
  /\ supervisors = <<>>
  /\ lock = ""
  /\ starts = [g \in Generations |-> 0]
  /\ count = [cuts |-> 0, failures |-> 0]
  /\ broken = {}

IsThere(g, name) == files[g][name] # "no"
IsFresh(g) == ~IsThere(g, "claim") /\ ~IsThere(g, "exit")
Without(processes, p) == [q \in DOMAIN processes \ {p} |-> processes[q]]
With(processes, p, is) == (p :> is) @@ processes
\* Its supervisor has claimed it. Another of the same name, which has only been launched, is another process.
IsAlive(g) ==
  LET owner == files[g].owner IN
  owner \in DOMAIN supervisors /\ supervisors[owner].generation = g /\ supervisors[owner].at # "launched"
Breaks(promise, isKept) == IF isKept THEN {} ELSE {promise}

-----------------------------------------------------------------------------
(* The workflow *)

\* The next attempt, once the one before has an answer; it may have been given up for lost.
Ask(g) ==
  /\ g = asked + 1
  /\ asked > 0 => answer[asked] \in {"failed", "interrupted", "cancelled", "lost"}
  /\ asked' = g
  /\ UNCHANGED <<answer, files, followers, running, supervisors, lock, starts, count, broken>>

\* Its agent is offline for too long.
GiveUp ==
  /\ asked > 0
  /\ answer[asked] = "none"
  /\ answer' = [answer EXCEPT ![asked] = "lost"]
  /\ UNCHANGED <<asked, files, followers, running, supervisors, lock, starts, count, broken>>

-----------------------------------------------------------------------------
(* A try of the activity in an agent *)

Goes(f, place) == followers' = With(followers, f, [followers[f] EXCEPT !.at = place])
IsAt(f, place) == f \in DOMAIN followers /\ followers[f].at = place

\* Orders are handed out only for the attempt that the workflow waits for. Who has one may stall with it.
Fetch(f, g) ==
  /\ f \notin DOMAIN followers
  /\ g = asked
  /\ answer[g] = "none"
  /\ followers' = With(followers, f, [generation |-> g, at |-> IF ~IsFresh(g) THEN "follows" ELSE "looks back"])
  /\ UNCHANGED <<asked, answer, files, running, supervisors, lock, starts, count, broken>>

\* Attempts before this one end first. One that has succeeded is not repeated.
LookBack(f) ==
  /\ IsAt(f, "looks back")
  /\ LET g == followers[f].generation
         before == {h \in Generations : h < g /\ IsThere(h, "execution")}
         ran == {h \in before : files[h].outcome # "cancelled"}
         newest == CHOOSE h \in ran : \A other \in ran : other <= h
     IN
     /\ \A h \in before : IsThere(h, "exit") \/ IsFresh(h)
     /\ IF ran # {} /\ files[newest].outcome = "success" /\ ~Fault("what has succeeded is repeated")
        THEN /\ followers' = Without(followers, f)
             /\ answer' = IF answer[g] = "none" THEN [answer EXCEPT ![g] = "success"] ELSE answer
        ELSE Goes(f, "ensures") /\ UNCHANGED answer
  /\ UNCHANGED <<asked, files, running, supervisors, lock, starts, count, broken>>

\* Each file is created whole, and synced before its creator goes on.
Create(g, name, more) == files' = [files EXCEPT ![g] = [more EXCEPT ![name] = "seen"]]
Sync(g, name) == files' = [files EXCEPT ![g] = [@ EXCEPT ![name] = "kept"]]

WriteExecution(f) ==
  /\ IsAt(f, "ensures")
  /\ LET g == followers[f].generation IN
     /\ IF IsThere(g, "execution") THEN UNCHANGED files ELSE Create(g, "execution", files[g])
     /\ Goes(f, "syncs")
  /\ UNCHANGED <<asked, answer, running, supervisors, lock, starts, count, broken>>

SyncExecution(f) ==
  /\ IsAt(f, "syncs")
  /\ LET g == followers[f].generation IN
     /\ IF IsThere(g, "execution") THEN Sync(g, "execution") ELSE UNCHANGED files
     /\ Goes(f, IF IsFresh(g) THEN "launches" ELSE "follows")
  /\ UNCHANGED <<asked, answer, running, supervisors, lock, starts, count, broken>>

Launch(f, x) ==
  /\ IsAt(f, "launches")
  /\ x \notin DOMAIN supervisors
  /\ supervisors' = With(supervisors, x, [generation |-> followers[f].generation, at |-> "launched"])
  /\ Goes(f, "follows")
  /\ UNCHANGED <<asked, answer, files, running, lock, starts, count, broken>>

\* A request to cancel, before or after it was ensured.
Cancel(g) ==
  /\ g <= asked
  /\ ~IsThere(g, "cancel")
  /\ files' = [files EXCEPT ![g].cancel = "kept"]
  /\ UNCHANGED <<asked, answer, followers, running, supervisors, lock, starts, count, broken>>

\* A cancelled one never starts: the agent claims it, and ends it.
CloseCancelled(f) ==
  /\ IsAt(f, "launches")
  /\ LET g == followers[f].generation IN
     /\ IsThere(g, "cancel") /\ IsFresh(g)
     /\ files' = [files EXCEPT ![g] = [@ EXCEPT !.claim = "kept", !.exit = "kept", !.outcome = "cancelled"]]
     /\ Goes(f, "follows")
  /\ UNCHANGED <<asked, answer, running, supervisors, lock, starts, count, broken>>

\* A supervisor that has died leaves processes of the task: they are killed before its result is written.
Settle(g) ==
  /\ IsThere(g, "claim") /\ ~IsThere(g, "exit") /\ ~IsAlive(g)
  /\ running' = IF Fault("processes of a killed supervisor go on") THEN running ELSE running \ {g}
  /\ files' = [files EXCEPT ![g] = [@ EXCEPT !.exit = "kept", !.outcome = "interrupted"]]
  /\ UNCHANGED <<asked, answer, followers, supervisors, lock, starts, count, broken>>

\* The launch failed, or a power cut took its files: the activity fails, and is tried again.
Fails(f) ==
  /\ IsAt(f, "follows")
  /\ LET g == followers[f].generation IN
     IsFresh(g) /\ \A x \in DOMAIN supervisors : supervisors[x].generation # g
  /\ followers' = Without(followers, f)
  /\ UNCHANGED <<asked, answer, files, running, supervisors, lock, starts, count, broken>>

\* The result, which the workflow does not hear of if the answer is lost.
Answer(f, isHeard) ==
  /\ IsAt(f, "follows")
  /\ LET g == followers[f].generation IN
     /\ IsThere(g, "exit")
     /\ answer' = IF isHeard /\ answer[g] = "none" THEN [answer EXCEPT ![g] = files[g].outcome] ELSE answer
  /\ followers' = Without(followers, f)
  /\ isHeard \/ count.failures < Failures
  /\ count' = IF isHeard THEN count ELSE [count EXCEPT !.failures = @ + 1]
  /\ UNCHANGED <<asked, files, running, supervisors, lock, starts, broken>>

-----------------------------------------------------------------------------
(* A supervisor: one process for one attempt *)

Is(x, place) == x \in DOMAIN supervisors /\ supervisors[x].at = place
Then(x, place) == supervisors' = With(supervisors, x, [supervisors[x] EXCEPT !.at = place])
Ends(x) == supervisors' = Without(supervisors, x)

\* Created once, so that it runs once.
Claim(x) ==
  /\ Is(x, "launched")
  /\ LET g == supervisors[x].generation IN
     IF IsThere(g, "claim") /\ ~Fault("a claim may be made twice")
     THEN Ends(x) /\ UNCHANGED files
     ELSE /\ Create(g, "claim", [files[g] EXCEPT !.owner = x])
          /\ Then(x, IF Fault("a task starts before its claim is synced") THEN "waits" ELSE "claims")
  /\ UNCHANGED <<asked, answer, followers, running, lock, starts, count, broken>>

SyncClaim(x) ==
  /\ Is(x, "claims")
  /\ Sync(supervisors[x].generation, "claim")
  /\ Then(x, "waits")
  /\ UNCHANGED <<asked, answer, followers, running, lock, starts, count, broken>>

\* The kernel gives the lock, and takes it from who dies. Processes of an attempt whose supervisor was killed are ended first.
Lock(x) ==
  /\ Is(x, "waits")
  /\ lock = "" \/ Fault("tasks do not wait for each other")
  /\ LET g == supervisors[x].generation
         orphans == {h \in running : ~IsAlive(h)}
         isOver == IsThere(g, "exit")
         isNewer == \E h \in Generations : h > g /\ IsThere(h, "claim")
         isCalledOff == IsThere(g, "cancel") \/ (isNewer /\ ~Fault("an older attempt starts after a newer one"))
     IN
     IF isOver
     THEN Ends(x) /\ UNCHANGED <<files, lock, running>>
     ELSE /\ lock' = x
          /\ running' = IF Fault("processes of a killed supervisor go on") THEN running ELSE running \ orphans
          /\ files' = IF isCalledOff THEN [files EXCEPT ![g].outcome = "cancelled"]
                      ELSE [h \in Generations |->
                        IF h \in orphans /\ ~IsThere(h, "exit") /\ ~Fault("processes of a killed supervisor go on")
                        THEN [files[h] EXCEPT !.exit = "kept", !.outcome = "interrupted"] ELSE files[h]]
          /\ Then(x, IF isCalledOff THEN "writes" ELSE "has the node")
  /\ UNCHANGED <<asked, answer, followers, starts, count, broken>>

StartTask(x) ==
  /\ Is(x, "has the node")
  /\ LET g == supervisors[x].generation IN
     /\ starts' = [starts EXCEPT ![g] = @ + 1]
     /\ running' = running \union {g}
     /\ broken' = broken
          \union Breaks("an attempt runs twice", starts[g] = 0)
          \union Breaks("two attempts run at once", running = {})
          \union Breaks("an older attempt starts after a newer one", \A h \in Generations : h > g => starts[h] = 0)
  /\ Then(x, "runs")
  /\ UNCHANGED <<asked, answer, files, followers, lock, count>>

EndTask(x, outcome) ==
  /\ Is(x, "runs")
  /\ LET g == supervisors[x].generation IN
     /\ running' = running \ {g}
     /\ files' = [files EXCEPT ![g].outcome = outcome]
  /\ Then(x, "writes")
  /\ UNCHANGED <<asked, answer, followers, lock, starts, count, broken>>

WriteResult(x) ==
  /\ Is(x, "writes")
  /\ LET g == supervisors[x].generation IN
     IF IsThere(g, "exit") THEN UNCHANGED files ELSE Create(g, "exit", files[g])
  /\ Then(x, "ends")
  /\ UNCHANGED <<asked, answer, followers, running, lock, starts, count, broken>>

SyncResult(x) ==
  /\ Is(x, "ends")
  /\ LET g == supervisors[x].generation IN IF IsThere(g, "exit") THEN Sync(g, "exit") ELSE UNCHANGED files
  /\ lock' = IF lock = x THEN "" ELSE lock
  /\ Ends(x)
  /\ UNCHANGED <<asked, answer, followers, running, starts, count, broken>>

-----------------------------------------------------------------------------
(* What fails *)

KillFollower(f) ==
  /\ f \in DOMAIN followers
  /\ count.failures < Failures
  /\ count' = [count EXCEPT !.failures = @ + 1]
  /\ followers' = Without(followers, f)
  /\ UNCHANGED <<asked, answer, files, running, supervisors, lock, starts, broken>>

\* The task's own processes go on.
KillSupervisor(x) ==
  /\ x \in DOMAIN supervisors
  /\ count.failures < Failures
  /\ count' = [count EXCEPT !.failures = @ + 1]
  /\ Ends(x)
  /\ lock' = IF lock = x THEN "" ELSE lock
  /\ UNCHANGED <<asked, answer, files, followers, running, starts, broken>>

\* No process is left, and no file that was not synced.
PowerCut ==
  /\ count.cuts < PowerCuts
  /\ count.failures < Failures
  /\ count' = [cuts |-> count.cuts + 1, failures |-> count.failures + 1]
  /\ followers' = <<>>
  /\ supervisors' = <<>>
  /\ running' = {}
  /\ lock' = ""
  /\ files' = [g \in Generations |->
       LET is == files[g]
           Kept(name) == IF is[name] = "kept" THEN "kept" ELSE "no"
       IN [execution |-> Kept("execution"), claim |-> Kept("claim"), cancel |-> Kept("cancel"), exit |-> Kept("exit"),
           owner |-> "", outcome |-> IF is.exit = "kept" THEN is.outcome ELSE ""]]
  /\ UNCHANGED <<asked, answer, starts, broken>>

Follows(f) ==
  \/ LookBack(f) \/ WriteExecution(f) \/ SyncExecution(f) \/ CloseCancelled(f) \/ Answer(f, TRUE) \/ Fails(f)
  \/ \E x \in Supervisors : Launch(f, x)

Supervises(x) ==
  \/ Claim(x) \/ SyncClaim(x) \/ Lock(x) \/ StartTask(x) \/ WriteResult(x) \/ SyncResult(x)
  \/ \E outcome \in {"success", "failed"} : EndTask(x, outcome)

Next ==
  \/ GiveUp \/ PowerCut
  \/ \E g \in Generations : Ask(g) \/ Cancel(g) \/ Settle(g)
  \/ \E f \in Followers : Follows(f) \/ KillFollower(f) \/ Answer(f, FALSE) \/ \E g \in Generations : Fetch(f, g)
  \/ \E x \in Supervisors : Supervises(x) \/ KillSupervisor(x)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* What holds *)

Kept == broken = {}

\* A result that the workflow has heard of, or an agent has read after it was synced, stays.
ResultsStay ==
  [][ \A g \in Generations : files[g].exit = "kept" => files'[g].exit = "kept" /\ files'[g].outcome = files[g].outcome ]_vars

\* Once nothing fails any more, the attempt that the workflow waits for has an answer.
Fairness ==
  /\ \A f \in Followers : WF_vars(Follows(f)) /\ SF_vars(\E g \in Generations : Fetch(f, g))
  /\ \A x \in Supervisors : WF_vars(Supervises(x))
  /\ \A g \in Generations : WF_vars(Settle(g))
FairSpec == Spec /\ Fairness
EachAttemptEnds == \A g \in Generations : (asked = g /\ answer[g] = "none") ~> answer[g] # "none"

Symmetry == Permutations(Followers) \union Permutations(Supervisors)

=============================================================================
