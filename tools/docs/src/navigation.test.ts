// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { navigation, type Titled } from "./navigation.ts";
import { siteConfig } from "./site-config.ts";

describe("navigation", () => {
  const pages = namedPages().map((page): Titled => ({ page, title: `title of ${page}` }));

  it("adds a page that no group names to the group of its folder", () => {
    const groups = navigation([...pages, { page: "decisions/099-new.md", title: "099 New" }]);
    expect(groups.find(({ text }) => text === "Decisions")?.items).toContainEqual({
      text: "099 New",
      link: "/decisions/099-new",
    });
  });

  it("refuses a page in a folder without a group", () => {
    expect(() => navigation([...pages, { page: "other/new.md", title: "New" }])).toThrow(
      /no group of the side bar has the folder of other\/new\.md/,
    );
  });

  it("refuses to name a page that does not exist", () => {
    expect(() => navigation(pages.filter(({ page }) => page !== "faq.md"))).toThrow("the side bar names faq.md");
  });
});

/** The pages of the real side bar. */
function namedPages(): readonly string[] {
  const sidebar = siteConfig().themeConfig?.sidebar;
  if (!Array.isArray(sidebar)) throw new TypeError("the side bar is no list of groups");
  return sidebar
    .flatMap(({ items = [] }) => items)
    .map(({ link = "" }) => `${link.slice(1)}${link.endsWith("/") ? "index" : ""}.md`);
}
