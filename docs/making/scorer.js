// Decisions are for whoever builds the house: pages for whoever lives in it come first.
var Scorer = {
  score: ([docname, title, anchor, description, score]) => docname.startsWith("docs/decisions/") ? score - 100 : score,
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};
