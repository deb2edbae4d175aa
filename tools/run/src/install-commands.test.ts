// SPDX-License-Identifier: Apache-2.0
/**
 * The commands that install, replace and roll back the chart, in all documents. `helm install` cannot be repeated: after a failure, the name of the
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

describe("commands that go back", () => {
  it("are no rollback without a revision, which goes back by one revision of any chart", () => {
    expect(commands.filter(({ line }) => /^helm (?:-\S+ \S+ )*rollback \S+(?: +(?:-|#)|$)/.test(line))).toEqual([]);
  });

  it("to upstream's chart take over what Switchyard owns, and the upgrade guide says before step 2 which Helm can", () => {
    const guide = readWorkspaceFile("docs/guide/upgrade.md");
    const back = commands.filter(({ line }) => /^helm .*upgrade \S+ \S*sriov-network-operator-chart/.test(line));
    expect(back.length).toBeGreaterThan(0);
    expect(back.filter(({ line }) => !line.includes("--take-ownership"))).toEqual([]);
    const before = guide.slice(0, guide.indexOf("2. **Upgrade the release.**"));
    expect(before).toMatch(/Helm 3\.17/);
  });
});
