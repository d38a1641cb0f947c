import { render } from "preact";
import { App } from "./app";
import "./style.css";
import "./run.css";

render(<App />, document.getElementById("app") as HTMLElement);
