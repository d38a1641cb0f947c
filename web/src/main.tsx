import { render } from "preact";
import { App } from "./app";
import "./style.css";
import "./run.css";
import "./print.css";

render(<App />, document.getElementById("app") as HTMLElement);
