// SPDX-License-Identifier: Apache-2.0
/**
 * An ESLint rule: a sentence in a doc comment has fewer than 34 words. Longer ones state several facts and have to be read
 * twice. Tags, usage lines and fenced code are not sentences.
 */

/** The first number of words that is too many. */
const tooMany = 34;

export default {
  meta: {
    type: "suggestion",
    docs: { description: "Limits the length of sentences in doc comments." },
    messages: { long: 'Split this sentence of {{words}} words (at most {{most}}): "{{start}} …".' },
    schema: [],
  },
  create(context) {
    return {
      Program() {
        for (const comment of context.sourceCode.getAllComments()) {
          if (comment.type !== "Block" || !comment.value.startsWith("*")) continue;
          for (const sentence of sentencesOf(comment.value.slice(1))) {
            const words = countWords(sentence);
            if (words < tooMany) continue;
            const start = sentence.split(" ").slice(0, 6).join(" ");
            context.report({ loc: comment.loc, messageId: "long", data: { words, most: tooMany - 1, start } });
          }
        }
      },
    };
  },
};

/** The sentences of a doc comment, each on one line. */
function sentencesOf(comment) {
  const lines = comment.split("\n").map((line) => line.replace(/^\s*\*? ?/, "").trim());
  const paragraphs = [[]];
  let isCode = false;
  let isTag = false; // a tag and its value, which can have several lines
  for (const line of lines) {
    if (line.startsWith("```")) isCode = !isCode;
    if (line === "" || line.startsWith("@")) isTag = line !== "";
    const isProse = !isCode && !isTag && !/^(?:```|Usage:|\||$)/.test(line);
    if (!isProse || /^(?:[-*]|\d+\.) /.test(line)) paragraphs.push([]);
    if (isProse) paragraphs.at(-1).push(line);
  }
  return paragraphs.flatMap((words) =>
    words
      .join(" ")
      .split(/(?<=[.!?]["')]?)(?<!\b(?:e\.g|i\.e|vs|etc)\.) +/)
      .filter((sentence) => sentence !== ""),
  );
}

/** Code in backticks is one word. */
function countWords(sentence) {
  return sentence
    .replaceAll(/`[^`]*`/g, "code")
    .split(/\s+/)
    .filter((word) => /\w/.test(word)).length;
}
