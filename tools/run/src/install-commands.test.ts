// SPDX-License-Identifier: Apache-2.0
/**
 * The commands that install the chart, in all documents. `helm install` cannot be repeated: after a failure, the name of the
 * release is in use. Without the values file, the images are those that are not published.
 */
import { describe, expect, it } from "@jest/globals";
import { readWorkspaceFile, workspaceFiles } from "./workspace-files.ts";

/** Lines of code in documents, with their places. The changelog is history. */
const commands = workspaceFiles([".md"])
  .filter((path) => path !== "CHANGELOG.md")
  .flatMap((path) =>
    readWorkspaceFile(path)
      .split("\n")
      .map((line, index) => ({ place: `${path}:${index + 1}`, line: line.trim() })),
  );

describe("commands that install the chart", () => {
  it("can be repeated after a failure", () => {
    const once = commands.filter(({ line }) => /^helm (?:-\S+ \S+ )*install\b/.test(line));
    expect(once).toEqual([]);
  });

  it("of a checkout have the file with the images", () => {
    const found = commands.filter(({ line }) => /^helm upgrade --install \S+ charts\//.test(line));
    expect(found.map(({ place }) => place.split(":")[0])).toEqual(expect.arrayContaining(["README.md"]));
    expect(found.filter(({ line }) => !line.includes("-f images.yaml"))).toEqual([]);
  });
});
