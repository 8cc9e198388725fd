----------------------------- MODULE ClaimTrace -----------------------------
(***************************************************************************)
(* What the simulator saw of the claim, step by step, as behaviours of the *)
(* model. One that the model does not allow ends before its last event:    *)
(* TLC reports that as a deadlock, with the event's number.                *)
(***************************************************************************)
EXTENDS Claim, Sequences, Traces

VARIABLES trace, next

traced == <<vars, trace, next>>

TraceInit == Init /\ trace \in 1..Len(Traces) /\ next = 1

\* An activity asks the same of Temporal for other reasons, too.
Asked(s, event) ==
  IF IsAt(s, "seen") /\ event.of = steps[s].run THEN AskHolder(s, event.isItsChild)
  ELSE IF IsAt(s, "own") /\ event.of = steps[s].run THEN AskOwn(s)
  ELSE IF IsAt(s, "busy") /\ event.of = steps[s].saw.run THEN AskOther(s)
  ELSE UNCHANGED vars

\* A run that cannot begin gives the subject back.
Release(r) ==
  /\ store' = IF store.claim.run = r THEN [store EXCEPT !.claim = Free] ELSE store
  /\ UNCHANGED <<temporal, knows, copy, count, steps, holder, former, broken>>

Copied ==
  /\ copy' = store
  /\ UNCHANGED <<temporal, knows, store, count, steps, holder, former, broken>>

\* As often as a seed does.
Restored ==
  /\ store' = copy
  /\ count' = [count EXCEPT !.restores = @ + 1]
  /\ holder' = NoOne
  /\ former' = {}
  /\ UNCHANGED <<temporal, knows, copy, steps, broken>>

\* Several changes may follow one proof.
Changes(s) == IsAt(s, "proven") /\ steps[s].kind \in {"work", "child"} /\ UNCHANGED vars

Becomes(r, status) ==
  /\ IsOpen(r)
  /\ temporal' = [temporal EXCEPT ![r].status = status]
  /\ UNCHANGED <<knows, store, copy, count, steps, holder, former, broken>>

Continues(r) ==
  /\ temporal' = [temporal EXCEPT ![r] = [execution |-> @.execution + 1, status |-> "open"]]
  /\ UNCHANGED <<knows, store, copy, count, steps, holder, former, broken>>

Is(claim, event) == claim.run = event.run /\ claim.execution = event.execution

Explained(event) ==
  CASE event.what = "start" -> Start(event.run)
    [] event.what = "reset" -> Continues(event.run)
    [] event.what = "complete" -> Becomes(event.run, "completed")
    [] event.what = "terminate" -> Becomes(event.run, "terminated")
    [] event.what = "read" ->
         /\ Is(store.claim, event.claim)
         /\ ReadClaim(event.step, event.run, event.execution, event.kind, 1)
    [] event.what = "ask" -> Asked(event.step, event)
    [] event.what = "claim" ->
         ClaimIt(event.step) /\ event.isClaimed = Same(store'.claim, event)
    [] event.what = "take over" ->
         /\ IsAt(event.step, "replaces") \/ IsAt(event.step, "takes over")
         /\ Is(steps[event.step].saw, event.from)
         /\ IF IsAt(event.step, "replaces") THEN Replace(event.step) ELSE TakeOver(event.step)
         /\ event.isClaimed = Is(store'.claim, event.to)
    [] event.what = "change" -> Changes(event.step)
    [] event.what = "release" -> Release(event.run)
    [] event.what = "copy" -> Copied
    [] event.what = "restore" -> Restored
    [] event.what = "end" -> End(event.step)

TraceNext ==
  \/ /\ next <= Len(Traces[trace])
     /\ Explained(Traces[trace][next])
     /\ next' = next + 1
     /\ UNCHANGED trace
  \/ next > Len(Traces[trace]) /\ UNCHANGED traced

TraceSpec == TraceInit /\ [][TraceNext]_traced

=============================================================================
