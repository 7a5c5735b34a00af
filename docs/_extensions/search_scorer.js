// Pages whose title has the words of the query come first; records of decisions and names
// of the code come after pages for users.
const queryWords = (new URLSearchParams(location.search).get("q") || "").toLowerCase().match(/\w{3,}/g) || [];
var Scorer = {
  score: ([docname, title, anchor, descr, score, filename, kind]) => {
    const heading = title.toLowerCase();
    const named = queryWords.filter((word) => heading.includes(word.replace(/s$/, ""))).length;
    const aside = docname.startsWith("decisions/") || kind === "object" || kind === "index";
    return (score + 3 * named) * (aside ? 0.4 : 1);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
