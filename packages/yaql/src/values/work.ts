/**
 * Elements that functions copied, compared or wrote since an evaluation last paid for them: a member of a set counts
 * fourfold, as sets are ordered, and text by its length. Evaluation is synchronous, so one counter serves all.
 */
export const work = { elements: 0 };
