// SPDX-License-Identifier: Apache-2.0
/**
 * Shows the version that the page describes. On a published site, versions.json lists the versions beside this one, which
 * may be newer than this page, so the browser reads it.
 */
import { useData } from "vitepress";
import { defineComponent, h, onMounted, ref } from "vue";
import type { SiteTheme } from "@switchyard/docs/site-theme";

export const VersionMenu = defineComponent({
  name: "VersionMenu",
  setup() {
    const { site, theme } = useData<SiteTheme>();
    const { version, isPublished } = theme.value;
    const versions = ref<readonly string[]>([version]);
    /** The folder of all versions: "/switchyard/" for a site at "/switchyard/v0.1/". */
    const above = site.value.base.replace(/[^/]+\/$/, "");

    onMounted(async () => {
      if (!isPublished) return;
      const response = await fetch(`${above}versions.json`);
      if (!response.ok) return;
      const listed: unknown = await response.json();
      if (Array.isArray(listed)) versions.value = listed.filter((it) => typeof it === "string");
    });

    const open = ({ target }: Event) => {
      if (target instanceof HTMLSelectElement) location.assign(`${above}${target.value}/`);
    };
    return () =>
      versions.value.length < 2
        ? h("span", { class: "version-menu" }, version)
        : h(
            "select",
            { class: "version-menu", "aria-label": "Version", onChange: open },
            versions.value.map((it) => h("option", { value: it, selected: it === version }, it)),
          );
  },
});
