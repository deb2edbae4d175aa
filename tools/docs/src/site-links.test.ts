// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { siteLink, type Workspace } from "./pages.ts";

const workspace: Workspace = {
  repository: "https://github.com/example/project",
  revision: "main",
  kindOf: (path) => (path === "libs/api" ? "folder" : path.endsWith("missing.ts") ? undefined : "file"),
};

describe("siteLink", () => {
  it.each([
    { from: "docs/faq.md", link: "operator.md#drain", to: "/operator.md#drain" },
    { from: "docs/guide/install.md", link: "../api/README.md", to: "/api/index.md" },
    { from: "docs/api/README.md", link: "../../VERSIONING.md", to: "/project/versioning.md" },
    { from: "CONTRIBUTING.md", link: "docs/contributing/style.md", to: "/contributing/style.md" },
    { from: "docs/index.md", link: "../README.md", to: "/index.md" },
    { from: "docs/cli.md", link: "../libs/api", to: "https://github.com/example/project/tree/main/libs/api" },
    {
      from: "docs/cli.md",
      link: "../apps/cli/src/main.ts#L3",
      to: "https://github.com/example/project/blob/main/apps/cli/src/main.ts#L3",
    },
    { from: "docs/cli.md", link: "#plan", to: "#plan" },
    { from: "docs/cli.md", link: "https://kubernetes.io/", to: "https://kubernetes.io/" },
  ])("leads from $from by $link to $to", ({ from, link, to }) => {
    expect(siteLink({ from, link }, workspace)).toBe(to);
  });

  it("refuses a link to a file that does not exist", () => {
    expect(() => siteLink({ from: "docs/cli.md", link: "../missing.ts" }, workspace)).toThrow(
      "docs/cli.md links to ../missing.ts, but missing.ts does not exist",
    );
  });
});
