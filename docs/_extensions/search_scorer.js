// Pages whose title has the words of the query come first; records of decisions, errata and
// names of the code come after pages for users, unless the query is a name of the code.
const query = new URLSearchParams(location.search).get("q") || "";
const queryWords = query.toLowerCase().match(/\w{3,}/g) || [];
const codeName = /[a-z][A-Z]|\w[._]\w/.test(query);
var Scorer = {
  score: ([docname, title, anchor, descr, score, filename, kind]) => {
    const heading = title.toLowerCase();
    const named = queryWords.filter((word) => heading.includes(word.replace(/s$/, ""))).length;
    const code = docname.startsWith("reference/python/") || kind === "object" || kind === "index";
    const aside = docname.startsWith("decisions/") || docname === "errata" || code;
    const defined = docname === "glossary" ? 2 : 0; // it says what a word means
    return (score + 3 * named + defined) * (aside ? (codeName ? 0.4 : 0.1) : 1);
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
