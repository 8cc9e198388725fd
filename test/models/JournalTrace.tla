---------------------------- MODULE JournalTrace ----------------------------
(***************************************************************************)
(* What simulated nodes saw of the attempts of one task, at their disks    *)
(* and processes, as behaviours of the model; see ClaimTrace. What the     *)
(* node does not see of the workflow is assumed: an attempt that is        *)
(* followed by another one had been given up.                              *)
(***************************************************************************)
EXTENDS Journal, Sequences, Traces

VARIABLES trace, next

traced == <<vars, trace, next>>

TraceInit == Init /\ trace \in 1..Len(Traces) /\ next = 1

Asks(g) ==
  /\ g > asked
  /\ asked' = g
  /\ answer' = [h \in Generations |-> IF h < g /\ answer[h] = "none" THEN "lost" ELSE answer[h]]
  /\ UNCHANGED <<files, followers, running, supervisors, lock, starts, count, broken>>

\* It has nothing to run, or could not.
EndsUnrun(x) ==
  /\ Is(x, "waits") \/ Is(x, "has the node")
  /\ files' = [files EXCEPT ![supervisors[x].generation].outcome = "cancelled"]
  /\ Then(x, "writes")
  /\ UNCHANGED <<asked, answer, followers, running, lock, starts, count, broken>>

Names == {"execution", "claim", "cancel", "exit"}

\* By chance, files that were not synced are left.
Cut(left) ==
  /\ \A g \in Generations, name \in Names :
       /\ files[g][name] = "kept" => <<g, name>> \in left
       /\ <<g, name>> \in left => files[g][name] # "no"
  /\ files' = [g \in Generations |-> [name \in DOMAIN NoFiles |->
       IF name \in Names THEN IF <<g, name>> \in left THEN "kept" ELSE "no"
       ELSE IF name = "outcome" /\ <<g, "exit">> \in left THEN files[g].outcome ELSE ""]]
  /\ followers' = <<>> /\ supervisors' = <<>> /\ running' = {} /\ lock' = ""
  /\ UNCHANGED <<asked, answer, starts, count, broken>>

Explained(event) ==
  CASE event.what = "ask" -> Asks(event.g)
    [] event.what = "fetch" -> Fetch(event.f, event.g)
    [] event.what = "look back" -> LookBack(event.f) /\ event.f \in DOMAIN followers'
    [] event.what = "write execution" -> WriteExecution(event.f)
    [] event.what = "sync execution" -> SyncExecution(event.f)
    [] event.what = "launch" -> Launch(event.f, event.x)
    [] event.what = "cancel" -> Cancel(event.g)
    [] event.what = "claim" -> Claim(event.x) /\ event.x \in DOMAIN supervisors'
    [] event.what = "sync claim" -> SyncClaim(event.x)
    [] event.what = "lock" -> Lock(event.x) /\ supervisors'[event.x].at = "has the node"
    [] event.what = "start" -> StartTask(event.x)
    [] event.what = "again" -> Is(event.x, "runs") /\ UNCHANGED vars
    [] event.what = "end" -> EndTask(event.x, event.outcome)
    [] event.what = "unrun" -> EndsUnrun(event.x)
    [] event.what = "write result" -> WriteResult(event.x)
    [] event.what = "sync result" -> SyncResult(event.x)
    [] event.what = "settle" -> Settle(event.g)
    [] event.what = "kill" -> Ends(event.x) /\ lock' = (IF lock = event.x THEN "" ELSE lock)
         /\ UNCHANGED <<asked, answer, files, followers, running, starts, count, broken>>
    [] event.what = "cut" -> Cut(event.left)

TraceNext ==
  \/ /\ next <= Len(Traces[trace])
     /\ Explained(Traces[trace][next])
     /\ next' = next + 1
     /\ UNCHANGED trace
  \/ next > Len(Traces[trace]) /\ UNCHANGED traced

TraceSpec == TraceInit /\ [][TraceNext]_traced

=============================================================================
