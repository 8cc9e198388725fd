------------------------------- MODULE Claim -------------------------------
(***************************************************************************)
(* The claim of a site or cluster: which run may change its machines, and  *)
(* how that is proved (activities/fencing.ts, src/runs/claims.ts,         *)
(* src/store/queries/claim-store.ts). Each action is one call of the store *)
(* or of Temporal by one try of an activity. Between two calls of a try,   *)
(* anything happens: another run, a reset, a death, a stall, or a store    *)
(* that is restored from an older copy.                                    *)
(*                                                                         *)
(* Permits (src/runs/permits.ts): so many machines may be changed at once, *)
(* by runs of this subject and of others, which share the limit.           *)
(***************************************************************************)
EXTENDS Naturals, TLC

CONSTANTS
  Runs,        \* runs that want the subject
  Resets,      \* how often people reset, all runs together
  Places,      \* of permits, for the runs of all subjects
  Kinds,       \* of steps: "open", "work", "permit" and "close"; "child" is work of a child, which acts for the execution that its parent has
  Steps,       \* names of tries of activities: so many are between two of their calls at once
  Sequences,   \* numbers of the records of an execution
  Restores,    \* how often the store is restored
  Deaths,      \* whether a try may end between two of its calls, and no one hears of it
  Stalls,      \* whether anything happens between a proof and the change that it was for
  Faults       \* defects put back, to see that they are found

VARIABLES
  temporal,  \* of each run: its newest execution (0: not started), and its status
  knows,     \* what the newest execution knows: "nothing", "opened" or "over"
  store,     \* the claim; the row of each run, and how many permits it has; those of runs of other subjects
  copy,      \* an older copy of the store
  count,     \* resets and restores so far
  steps,     \* the tries of activities that are between two calls
  holder,    \* the execution that the store named last
  former,    \* those that it named before
  broken     \* promises that were broken

vars == <<temporal, knows, store, copy, count, steps, holder, former, broken>>

Fault(name) == name \in Faults

Free == [run |-> "", execution |-> 0, generation |-> 0]
NoRow == [sequence |-> 0, by |-> 0, ended |-> FALSE]
NoOne == [run |-> "", execution |-> 0]
Closing == 1000

\* Numbers of records restart with each generation, above those of the generation before.
SequenceIn(generation, sequence) == (generation - 1) * 100 + sequence

IsOpen(r) == temporal[r].status = "open"
Same(one, other) == one.run = other.run /\ one.execution = other.execution
IsCurrent(step) == IsOpen(step.run) /\ temporal[step.run].execution = step.execution

Init ==
  /\ temporal = [r \in Runs |-> [execution |-> 0, status |-> "none"]]
  /\ knows = [r \in Runs |-> "nothing"]
  /\ store = [claim |-> Free, rows |-> [r \in Runs |-> NoRow], permits |-> [r \in Runs |-> 0], others |-> 0]
  /\ copy = store
  /\ count = [resets |-> 0, restores |-> 0]
  /\ steps = <<>>
  /\ holder = NoOne
  /\ former = {}
  /\ broken = {}

-----------------------------------------------------------------------------
(* Temporal, people, and the store's disk *)

Start(r) ==
  /\ temporal[r].status = "none"
  /\ temporal' = [temporal EXCEPT ![r] = [execution |-> 1, status |-> "open"]]
  /\ UNCHANGED <<knows, store, copy, count, steps, holder, former, broken>>

\* A workflow ends once its run is closed, was refused, or has lost its claim.
Complete(r) ==
  /\ IsOpen(r)
  /\ knows[r] = "over"
  /\ temporal' = [temporal EXCEPT ![r].status = "completed"]
  /\ UNCHANGED <<knows, store, copy, count, steps, holder, former, broken>>

\* Its tries of activities do not notice.
Terminate(r) ==
  /\ IsOpen(r)
  /\ temporal' = [temporal EXCEPT ![r].status = "terminated"]
  /\ UNCHANGED <<knows, store, copy, count, steps, holder, former, broken>>

\* What the workflow knows may be taken back. One that has completed by itself goes on as another run, which Temporal does not
\* know as this one: its steps have the execution 0.
Reset(r, known) ==
  /\ temporal[r].status \in {"open", "terminated"}
  /\ count.resets < Resets
  /\ known \in {"nothing", knows[r]}
  /\ temporal' = [temporal EXCEPT ![r] = [execution |-> @.execution + 1, status |-> "open"]]
  /\ knows' = [knows EXCEPT ![r] = known]
  /\ count' = [count EXCEPT !.resets = @ + 1]
  /\ UNCHANGED <<store, copy, steps, holder, former, broken>>

Copy ==
  /\ count.restores < Restores
  /\ copy # store
  /\ copy' = store
  /\ UNCHANGED <<temporal, knows, store, count, steps, holder, former, broken>>

Restore ==
  /\ count.restores < Restores
  /\ copy # store
  /\ store' = copy
  /\ count' = [count EXCEPT !.restores = @ + 1]
  /\ holder' = NoOne
  /\ former' = {}
  /\ UNCHANGED <<temporal, knows, copy, steps, broken>>

-----------------------------------------------------------------------------
(* A try of an activity *)

Gone(s) == steps' = [t \in DOMAIN steps \ {s} |-> steps[t]]
IsAt(s, place) == s \in DOMAIN steps /\ steps[s].at = place

\* A workflow hears answers only to what its newest execution asked.
Hears(step, what) == knows' = IF IsCurrent(step) THEN [knows EXCEPT ![step.run] = what] ELSE knows

Breaks(promise, isKept) == broken' = IF isKept THEN broken ELSE broken \union {promise}

\* The store names the execution: no other has the subject. A late try of an execution that has ended may have it claim again:
\* the next one takes over from it, as from all that are not open.
Named(me) ==
  /\ holder' = me
  /\ former' = (former \union {holder}) \ {me, NoOne}
  /\ Breaks("an execution has the subject again after another had it", me \notin former \/ ~IsCurrent(me))

Unnamed == UNCHANGED <<holder, former, broken>>

\* The run is over: it does not have the subject, another has it, or it is closed.
Over(s, step) == Gone(s) /\ Hears(step, "over")
Opened(s, step) == Gone(s) /\ Hears(step, "opened")

\* What a step knows when it goes on.
On(s, step, place, saw) ==
  /\ steps' = (s :> [step EXCEPT !.at = place, !.saw = saw]) @@ steps
  /\ UNCHANGED knows

\* What an execution asks for. A try of an earlier execution, or of a run that has ended, may wake up at any time.
MayAsk(r, execution, kind) ==
  \/ /\ execution = temporal[r].execution /\ IsOpen(r)
     /\ knows[r] = (IF kind = "open" THEN "nothing" ELSE "opened")
  \/ Deaths /\ execution \in 1..temporal[r].execution /\ (execution < temporal[r].execution \/ ~IsOpen(r))
  \/ execution = 0 /\ temporal[r].status = "completed" /\ Resets > 0 /\ kind \in {"open", "work"}

Die(s) ==
  /\ Deaths
  /\ s \in DOMAIN steps
  /\ Gone(s)
  /\ UNCHANGED <<temporal, knows, store, copy, count, holder, former, broken>>

\* claims.holder
ReadClaim(s, r, execution, kind, sequence) ==
  /\ LET claim == store.claim
         step == [run |-> r, execution |-> execution, kind |-> kind, sequence |-> sequence, at |-> "start", saw |-> Free, current |-> 0]
         isMine == kind # "child" /\ Same(claim, step)
     IN
     /\ IF claim = Free THEN Unnamed ELSE Named([run |-> claim.run, execution |-> claim.execution])
     /\ IF kind = "close" /\ store.rows[r].sequence >= Closing THEN Over(s, step)
        ELSE IF isMine THEN IF kind = "open" THEN Opened(s, step) ELSE On(s, step, "proven", claim)
        ELSE IF claim.run = r THEN On(s, step, "seen", claim)
        ELSE IF kind = "open" THEN On(s, step, IF execution = 1 THEN "may claim" ELSE "own", Free)
        ELSE Over(s, step)
  /\ UNCHANGED <<temporal, store, copy, count>>

\* Temporal says which execution the run has now, whether that is open, and whether the child is its own.
AskHolder(s, isItsChild) ==
  /\ IsAt(s, "seen")
  /\ LET step == steps[s]
         current == temporal[step.run].execution
         isMe == step.execution = current \/ (step.kind = "child" /\ isItsChild)
     IN
     IF ~IsOpen(step.run) \/ ~isMe THEN Over(s, step)
     ELSE IF step.saw.execution = current THEN On(s, step, "proven", step.saw)
     ELSE On(s, [step EXCEPT !.current = current], "replaces", step.saw)
  /\ Unnamed
  /\ UNCHANGED <<temporal, store, copy, count>>

\* A reset of a run that ended by itself is not that run.
AskOwn(s) ==
  /\ IsAt(s, "own")
  /\ LET step == steps[s] IN
     IF temporal[step.run].execution = step.execution THEN On(s, step, "may claim", Free) ELSE Over(s, step)
  /\ Unnamed
  /\ UNCHANGED <<temporal, store, copy, count>>

\* A run that has ended claims nothing any more: its tries may wake up late.
IsClosed(r) == store.rows[r].sequence >= Closing /\ ~Fault("a run that has ended claims again")

\* Above all of the run's records, and above the claim that is taken over.
NextGeneration(r, before) ==
  LET ofRow == IF store.rows[r].sequence = 0 \/ Fault("a claim begins with the first generation") THEN 1
               ELSE store.rows[r].sequence \div 100 + 2
  IN IF Fault("a take-over keeps the generation") /\ before > 0 THEN before
     ELSE IF ofRow > before + 1 THEN ofRow ELSE before + 1

\* claims.claim
ClaimIt(s) ==
  /\ IsAt(s, "may claim")
  /\ LET step == steps[s]
         me == [run |-> step.run, execution |-> step.execution]
     IN
     IF IsClosed(me.run) THEN Over(s, step) /\ Unnamed /\ UNCHANGED store
     ELSE IF store.claim = Free
     THEN /\ store' = [store EXCEPT !.claim = [run |-> me.run, execution |-> me.execution,
            generation |-> NextGeneration(me.run, 0)]]
          /\ Named(me)
          /\ Opened(s, step)
     ELSE /\ Named([run |-> store.claim.run, execution |-> store.claim.execution])
          /\ IF Same(store.claim, me) THEN Opened(s, step)
             ELSE IF store.claim.run = me.run /\ ~Fault("an execution takes over from a newer one")
             THEN Gone(s) /\ UNCHANGED knows
             ELSE On(s, step, "busy", store.claim)
          /\ UNCHANGED store
  /\ UNCHANGED <<temporal, copy, count>>

\* Only Temporal knows whether the run that has the claim is open.
AskOther(s) ==
  /\ IsAt(s, "busy")
  /\ LET step == steps[s] IN
     IF IsOpen(step.saw.run) /\ ~Fault("a claim is taken from an open run")
     THEN Over(s, step)
     ELSE ~Fault("no claim is taken over") /\ On(s, step, "takes over", step.saw)
  /\ Unnamed
  /\ UNCHANGED <<temporal, store, copy, count>>

\* Compare and swap.
Swapped(from, to) ==
  IF store.claim = from \/ Fault("a take-over does not compare")
  THEN [store EXCEPT !.claim = [run |-> to.run, execution |-> to.execution,
         generation |-> NextGeneration(to.run, from.generation)]]
  ELSE store

\* claims.takeOver, by a run that opens.
TakeOver(s) ==
  /\ IsAt(s, "takes over")
  /\ LET step == steps[s]
         me == [run |-> step.run, execution |-> step.execution]
     IN
     IF IsClosed(me.run) THEN Over(s, step) /\ Unnamed /\ UNCHANGED store
     ELSE
     /\ store' = Swapped(step.saw, me)
     /\ IF Same(store'.claim, me) THEN Opened(s, step) /\ Named(me) ELSE On(s, step, "may claim", Free) /\ Unnamed
  /\ UNCHANGED <<temporal, copy, count>>

\* claims.takeOver, for the execution that a reset put in place. Whatever becomes of it, the step looks again.
Replace(s) ==
  /\ IsAt(s, "replaces")
  /\ LET step == steps[s]
         me == [run |-> step.run, execution |-> step.current]
     IN
     /\ store' = Swapped(step.saw, me)
     /\ IF Same(store'.claim, me) THEN Named(me) ELSE Unnamed
  /\ Gone(s)
  /\ UNCHANGED <<temporal, knows, copy, count>>

\* A change of a machine, which knows no fences. The client of MAAS refuses it ten seconds after the proof: only that much can come in between.
Change(s) ==
  /\ IsAt(s, "proven")
  /\ steps[s].kind \in {"work", "child"}
  /\ Gone(s)
  /\ LET claim == steps[s].saw IN
     Breaks("a machine is changed after another took over", [run |-> claim.run, execution |-> claim.execution] \notin former)
  /\ UNCHANGED <<temporal, knows, store, copy, count, holder, former>>

\* The same by a step that does not ask.
ChangeUnasked(r, execution) ==
  /\ Fault("a step changes a machine without proof")
  /\ MayAsk(r, execution, "work")
  /\ Breaks("a machine is changed without proof", FALSE)
  /\ UNCHANGED <<temporal, knows, store, copy, count, steps, holder, former>>

\* runs.put, runs.putNodes, taskHistory.record: the highest number wins.
Record(s) ==
  /\ IsAt(s, "proven")
  /\ steps[s].kind \in {"work", "child"}
  /\ LET claim == steps[s].saw
         row == store.rows[claim.run]
         number == SequenceIn(claim.generation, steps[s].sequence)
         after == IF number > row.sequence
                  THEN [sequence |-> number, by |-> claim.execution, ended |-> row.ended] ELSE row
     IN
     /\ store' = [store EXCEPT !.rows[claim.run] = after]
     /\ Breaks("a record of the execution that has the claim is ignored",
          store.claim = claim => after.by = claim.execution)
  /\ Gone(s)
  /\ UNCHANGED <<temporal, knows, copy, count, holder, former>>

\* runs.end: report, row and claim in one transaction, and only while the claim is the one of the proof.
End(s) ==
  /\ IsAt(s, "proven")
  /\ steps[s].kind = "close"
  /\ LET step == steps[s]
         mayEnd ==
           \/ store.claim = step.saw
           \/ Fault("a late end closes a run that goes on") /\ store.claim.run = step.run
           \/ Fault("an end frees the claim of any run")
     IN
     /\ store' = IF mayEnd
                 THEN [store EXCEPT !.claim = Free, !.rows[step.run] =
                        [sequence |-> Closing, by |-> step.saw.execution, ended |-> TRUE]]
                 ELSE store
     /\ Over(s, step)
  /\ Unnamed
  /\ UNCHANGED <<temporal, copy, count>>

-----------------------------------------------------------------------------
(* Permits: they hold while their run has the claim *)

Has(r) == store.claim.run = r
OfHolder(permits) == IF store.claim = Free THEN 0 ELSE permits[store.claim.run]

RECURSIVE Sum(_, _)
Sum(permits, runs) == IF runs = {} THEN 0 ELSE LET r == CHOOSE r \in runs : TRUE IN permits[r] + Sum(permits, runs \ {r})

\* What a transaction counts.
Used == store.others + (IF Fault("permits of dead runs count") THEN Sum(store.permits, Runs) ELSE OfHolder(store.permits))
IsFree == Used < Places \/ (Fault("permits of others do not count") /\ Used - store.others < Places)

\* It removes what runs without a claim have left.
Living == [r \in Runs |-> IF Has(r) \/ Fault("permits of dead runs stay") THEN store.permits[r] ELSE 0]

\* permits.put: also by a late try, whose run has lost the claim since its proof. One that waits writes nothing.
TakePermit(s) ==
  /\ IsAt(s, "proven")
  /\ steps[s].kind = "permit"
  /\ store' = [store EXCEPT !.permits = IF IsFree THEN [Living EXCEPT ![steps[s].run] = @ + 1] ELSE Living]
  /\ Gone(s)
  /\ Unnamed
  /\ UNCHANGED <<temporal, knows, copy, count>>

GivePermitBack(s) ==
  /\ IsAt(s, "proven")
  /\ steps[s].kind = "permit"
  /\ Living[steps[s].run] > 0
  /\ store' = [store EXCEPT !.permits = [Living EXCEPT ![steps[s].run] = @ - 1]]
  /\ Gone(s)
  /\ Unnamed
  /\ UNCHANGED <<temporal, knows, copy, count>>

\* A run of another subject takes a permit, or gives one back.
Others ==
  /\ \/ IsFree /\ store' = [store EXCEPT !.permits = Living, !.others = @ + 1]
     \/ store.others > 0 /\ store' = [store EXCEPT !.permits = Living, !.others = @ - 1]
  /\ UNCHANGED <<temporal, knows, copy, count, steps, holder, former, broken>>

-----------------------------------------------------------------------------
Goes(s) ==
  \/ AskHolder(s, TRUE) \/ AskHolder(s, FALSE) \/ AskOwn(s) \/ ClaimIt(s) \/ AskOther(s) \/ TakeOver(s) \/ Replace(s)
  \/ Change(s) \/ Record(s) \/ TakePermit(s) \/ GivePermitBack(s) \/ End(s)

Asks(s, r, kind) ==
  /\ s \notin DOMAIN steps
  /\ \E execution \in 0..(Resets + 1), sequence \in Sequences :
       /\ kind \in {"open", "close"} => \A other \in Sequences : sequence <= other
       /\ MayAsk(r, execution, kind)
       /\ ReadClaim(s, r, execution, kind, sequence)

Elsewhere ==
  \/ \E r \in Runs :
       \/ Start(r) \/ Complete(r) \/ Terminate(r)
       \/ \E known \in {"nothing", "opened", "over"} : Reset(r, known)
       \/ \E execution \in 1..(Resets + 1) : ChangeUnasked(r, execution)
  \/ Copy \/ Restore \/ Others

\* Without stalls, nothing happens between the look at a claim and the change that it was for.
Hurried == {s \in DOMAIN steps : steps[s].at \in {"seen", "proven"}}

Next ==
  \/ \E s \in Steps : (Stalls \/ Hurried \subseteq {s}) /\ (Goes(s) \/ Die(s) \/ \E r \in Runs, kind \in Kinds : Asks(s, r, kind))
  \/ (Stalls \/ Hurried = {}) /\ Elsewhere

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* What holds *)

Kept == broken = {}

\* What a stall between proof and change cannot break, also if the run had been terminated and others had the subject since.
KeptInStalls == "an execution has the subject again after another had it" \notin broken
             /\ "a machine is changed without proof" \notin broken

\* As long as one run has the subject, a late record of an older execution is ignored, too.
KeptOfOneRun == KeptInStalls /\ "a record of the execution that has the claim is ignored" \notin broken

\* An open run that has the claim keeps it until its own execution closes it.
HolderKeepsClaim ==
  [][ LET claim == store.claim IN
      (/\ claim # Free
       /\ IsOpen(claim.run)
       /\ temporal[claim.run].execution = claim.execution
       /\ count' = count)
      => \/ Same(store'.claim, claim)
         \/ store'.rows[claim.run].ended /\ store'.rows[claim.run].by = claim.execution ]_vars

\* A run that has closed itself has nothing any more.
ClosedRunsClaimNothing ==
  [][ \A r \in Runs : (store.rows[r].ended /\ store.claim.run # r /\ count' = count) => store'.claim.run # r ]_vars

\* Records of an older execution never replace those of a newer one.
RecordsGoForward ==
  [][ count'.restores = count.restores => \A r \in Runs : store'.rows[r].by >= store.rows[r].by ]_vars

\* Runs never have more permits than there are places, and those of a run without a claim are free again.
PermitsWithinLimit == OfHolder(store.permits) + store.others <= Places
DeadPermitsAreFree == Used = OfHolder(store.permits) + store.others

Fairness ==
  /\ \A r \in Runs : WF_vars(Complete(r))
  /\ \A s \in Steps : WF_vars(Goes(s))
  /\ \A r \in Runs : \A kind \in {"open", "close"} : SF_vars(\E s \in Steps : Asks(s, r, kind))

\* Once faults stop, each run ends, whoever had the claim.
EachRunEnds == \A r \in Runs : IsOpen(r) ~> ~IsOpen(r)
FairSpec == Spec /\ Fairness

\* Late tries of runs that have ended could take over from each other for ever.
Bounded == store.claim.generation <= 3

Symmetry == Permutations(Runs) \union Permutations(Steps)

=============================================================================
