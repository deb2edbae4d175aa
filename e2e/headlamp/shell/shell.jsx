// SPDX-License-Identifier: Apache-2.0
/**
 * The user interface of Headlamp as far as its library for plugins contains it: loader of plugins, store, routes and sidebar.
 * Headlamp itself puts its frame around the same parts.
 */
// First, because the modules of the library import each other in circles.
import "@kinvolk/headlamp-plugin/lib";
import RouteSwitcher from "@kinvolk/headlamp-plugin/lib/components/App/RouteSwitcher";
import { lightTheme } from "@kinvolk/headlamp-plugin/lib/components/App/defaultAppThemes";
import Sidebar from "@kinvolk/headlamp-plugin/lib/components/Sidebar/Sidebar";
import i18n from "@kinvolk/headlamp-plugin/lib/i18n/config";
import { queryClient } from "@kinvolk/headlamp-plugin/lib/lib/queryClient";
import { createMuiTheme } from "@kinvolk/headlamp-plugin/lib/lib/themes";
import Plugins from "@kinvolk/headlamp-plugin/lib/plugin/Plugins";
import { setConfig } from "@kinvolk/headlamp-plugin/lib/redux/configSlice";
import store from "@kinvolk/headlamp-plugin/lib/redux/stores/store";
import { StyledEngineProvider, ThemeProvider } from "@mui/material/styles";
import { QueryClientProvider } from "@tanstack/react-query";
import { createBrowserHistory } from "history";
import { SnackbarProvider } from "notistack";
import { createRoot } from "react-dom/client";
import { I18nextProvider } from "react-i18next";
import { Provider } from "react-redux";
import { Router } from "react-router-dom";

store.dispatch(setConfig({ clusters: { main: { name: "main", auth_type: "", meta_data: {} } } }));

createRoot(document.getElementById("root")).render(
  <Provider store={store}>
    <I18nextProvider i18n={i18n}>
      <QueryClientProvider client={queryClient}>
        <StyledEngineProvider injectFirst>
          <ThemeProvider theme={createMuiTheme(lightTheme)}>
            <SnackbarProvider>
              <Router history={createBrowserHistory()}>
                <Plugins />
                <div style={{ display: "flex" }}>
                  <Sidebar />
                  <main style={{ flexGrow: 1 }}>
                    <RouteSwitcher requiresToken={() => false} />
                  </main>
                </div>
              </Router>
            </SnackbarProvider>
          </ThemeProvider>
        </StyledEngineProvider>
      </QueryClientProvider>
    </I18nextProvider>
  </Provider>,
);
