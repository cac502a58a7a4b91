"""The shell of the page: its fixed places, its address, and the player that moves the mechanism, without a browser."""

from __future__ import annotations

import json
import re
import subprocess
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from tests.compiler.samples import node

ASSETS = Path(str(resources.files("linkwright.rings.studio"))) / "live" / "assets"
OWN = sorted(str(p.relative_to(ASSETS).with_suffix("")) for p in ASSETS.glob("*/*.js"))

# promised to readers of the documentation and to the tests in a browser
PLACES = {
    *("stage", "slider", "play", "speed", "swing", "message", "torque", "checks", "card", "pins", "parameters", "channels", "report"),
    *("machinery", "machinery-button", "theme", "menu"),
}


class Page(HTMLParser):
    """All elements by id, and every address in the page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: dict[str, dict[str, str | None]] = {}
        self.doubled: list[str] = []
        self.addresses: list[str] = []
        self.unnamed: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name = given.get("id")
        if name:
            self.doubled += [name] if name in self.ids else []
            self.ids[name] = {"tag": tag, **given}
        self.addresses += [given[key] or "" for key in ("href", "src", "action") if key in given]
        if tag == "button" and given.get("type") != "button":
            self.unnamed.append(name or "button")


def run(files: tuple[str, ...], script: str) -> Any:
    """What a script leaves in `out`, or promises there, after loading files of the page in node."""
    text = "\n".join((ASSETS / f"{name}.js").read_text("utf-8") for name in ("base/lw", *files))
    done = subprocess.run(
        [*node(), "-"],
        input=f"{text}\nlet out;{script}\nPromise.resolve(out).then((x)=>process.stdout.write(JSON.stringify(x)))",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def html() -> str:
    return (ASSETS / "shell" / "page.html").read_text("utf-8")


def test_the_page_has_its_places_once_and_asks_nobody(html: str) -> None:
    page = Page(html)
    assert not page.doubled and not page.unnamed
    assert set(page.ids) >= PLACES
    assert page.ids["message"]["role"] == "status"
    assert all(address.startswith("data:") for address in page.addresses), page.addresses
    assert [html.count(f"{{{{{key}}}}}") for key in ("title", "style", "report", "scripts")] == [2, 1, 1, 1]
    for name, given in page.ids.items():
        if given.get("aria-controls"):
            assert given["aria-controls"] in page.ids, name


def test_the_page_of_an_error_shows_title_and_message_and_asks_only_for_its_new_version() -> None:
    text = (ASSETS / "shell" / "error.html").read_text("utf-8")
    page = Page(text)
    assert {"message", "waiting"} <= set(page.ids) and page.addresses == ["data:,"]
    assert [text.count(f"{{{{{key}}}}}") for key in ("title", "message", "watch")] == [2, 1, 1]
    assert text.count("const path = {{reload}},") == 1 and "fetch(" not in text


def test_pages_ask_for_another_version_while_they_are_seen_and_give_up_when_nobody_answers() -> None:
    """Answers of a server in turn ("x": none at all), and what the page did: questions asked, reloads, told that it ended."""
    asked = run(
        ("shell/reload",),
        "const tries=async(path,answers,hidden)=>{const seen={asked:0,reloads:0,ended:0};let next=null;"
        "globalThis.document={get hidden(){return hidden.shift()||false;}};globalThis.location={reload(){seen.reloads++;}};"
        "globalThis.setTimeout=(f)=>{next=f;};"
        "globalThis.fetch=async()=>{seen.asked++;const a=answers.shift()||'x';if(a==='x')throw new Error('gone');"
        "return {ok:a!=='bad',text:async()=>a+'\\n'};};"
        "LW.watch(path,()=>{seen.ended++;});"
        "for(let i=0;i<80&&next;i++){const f=next;next=null;await f();}return seen;};"
        "out=(async()=>[await tries('/version?have=a',['a','x','bad','a','b'],[]),await tries('/version',['a','a','b'],[true,true]),"
        "await tries('/version?have=a',['a'],[])])();",
    )
    assert asked == [
        {"asked": 5, "reloads": 1, "ended": 0},
        {"asked": 3, "reloads": 1, "ended": 0},
        {"asked": 31, "reloads": 0, "ended": 1},
    ]


def test_the_editor_asks_on_when_an_answer_is_cut_off() -> None:
    """Requests that fail (TypeError) and answers that end in the middle (AbortError): reported as offline, asked again."""
    found = run(
        ("editor/server",),
        "let next=null,asked=0;const offline=[];globalThis.document={hidden:false};"
        "globalThis.window={setTimeout:(f)=>{next=f;return 1;},clearTimeout(){}};"
        "globalThis.fetch=async()=>{asked++;if(asked===1)throw new TypeError('refused');"
        "return {text:async()=>{if(asked===2)throw new DOMException('The operation was aborted.','AbortError');"
        'return \'{"version":"a"}\';}};};'
        "const server=LW.edit.server({version:'a'},{offline:(text)=>offline.push(Boolean(text)),file(){},answer(){}});"
        "out=(async()=>{server.start();for(let i=0;i<3;i++){const f=next;next=null;await f();}"
        "return [asked,offline,await server.get('edit/x')];})();",
    )
    assert found[0] >= 3 and found[1] == [True, False] and found[2]["version"] == "a"


@pytest.mark.parametrize("name", OWN)
def test_a_script_survives_shortening_and_uses_nothing_risky(name: str) -> None:
    text = (ASSETS / f"{name}.js").read_text("utf-8")
    assert text.startswith("// ") and len(text.splitlines()) <= 450
    assert not re.search(r"\beval\(|new Function|innerHTML|localStorage|https?://", text)
    assert "fetch(" not in text or name in ("shell/reload", "editor/server")  # which talk to the server they came from
    short = "\n".join(re.sub(r"(^|\s)//.*$", "", line).strip() for line in text.splitlines())
    assert "//" not in re.sub(r"/\^?(?:[^/\n\\\[]|\\.|\[[^\]]*\])+/[gim]*", "", short)


def test_colors_are_defined_for_light_dark_and_paper() -> None:
    text = (ASSETS / "shell" / "page.css").read_text("utf-8")
    blocks = re.findall(r"(:root[^{]*)\{(.*?)\}", text, re.DOTALL)
    named = {" ".join(head.split()): set(re.findall(r"(--[a-z]+):", body)) for head, body in blocks}
    light, dark, paper = named[":root"], named[':root[data-theme="dark"]'], named[":root, :root[data-theme]"]
    # the same in light and dark: shape and type
    assert light - dark == {"--radius", "--mono"} and dark <= light
    assert dark - paper <= {"--driven", "--pressed"}
    used = {v for f in ASSETS.glob("*/*.css") for v in re.findall(r"var\((--[a-z]+)[,)]", f.read_text("utf-8")) if f.name in ("page.css",)}
    assert used <= light | {"--fill"}


def test_the_address_keeps_the_state_and_ignores_what_it_does_not_know() -> None:
    state = {
        "mode": "run", "s": 120.5, "play": False, "speed": 0.5, "values": {"L1": 0.35, "a b&c": -2e-7}, "axes": "coupler",
        "pick": {"kind": "pin", "name": "B", "body": "coupler"}, "traces": ["coupler.P", "x&y"], "tab": "parameters", "theme": "dark",
    }  # fmt: skip
    back, strange, plain = run(
        ("shell/share",),
        f"const r=LW.share.read,w=LW.share.write;out=[r('#'+w({json.dumps(state)})),"
        "r('#s=abc&play=7&speed=-1&mode=fly&tab=x&theme=pink&pick=star:B&p.L1=&p.=3&p.L2=nan&other=1'),w({play:true,speed:1,values:{}})]",
    )
    assert back == state
    assert strange == {"values": {}}
    assert plain == ""
    assert run(("shell/share",), "out=LW.share.read('#machinery=1&axes=world').tab") == "machinery"


def test_the_address_keeps_names_with_its_own_signs() -> None:
    state = {"pick": {"kind": "pin", "name": "B:1", "body": "cou:pl,er|x%3A"}, "traces": ["a,b.P", "c:d&e=f#", "100% +"], "values": {}}
    back, old, whole, broken = run(
        ("shell/share",),
        f"const r=LW.share.read,w=LW.share.write;out=[r('#'+w({json.dumps(state)})),r('#s=1&pick=pin:B:coupler&trace=coupler.P,x%26y'),"
        "r('pick=pin%3AB%3Acoupler').pick,r('#pick=pin:%zz&trace=%zz,P')]",
    )
    assert back == state
    assert old["pick"] == whole == {"kind": "pin", "name": "B", "body": "coupler"} and old["traces"] == ["coupler.P", "x&y"]
    assert "pick" not in broken and broken["traces"] == ["P"]


# an engine whose only drive stands at the sample's own number of degrees
ENGINE = """
LW.decode = (x) => x;
const n = 361, t = Float64Array.from({length: n}, (_, i) => DURATION * i / 360), value = t.map((_, i) => i * Math.PI / 180);
const DATA = {planar: true, swing: true, run: null, scene: {extent: {low: [0,0,0], high: [1,1,0]}},
  cycle: {closed: CLOSED, t, drives: ["A"], kinds: ["angle"], value: {data: value, shape: [n, 1]}}};
const e = {cycle: {t}, state: {drive: [0], v: [7], ok: true}, gone: [], stretch: () => null,
  go(s) { e.gone.push(s); e.state.drive = [s * Math.PI / 180]; return e.state; },
  nudge(name, amount) { e.state.drive[0] += amount; return {stopped: ""}; },
  poses() { const a = e.state.drive[0], c = Math.cos(a), s = Math.sin(a); return {R: [c, -s, 0, s, c, 0, 0, 0, 1], p: [0, 0, 0]}; },
  swing: {t: 0, start(v) { e.v = v; }, step(dt) { e.swing.t += dt; return {ok: e.swing.t < 0.2, energy: 1, drift: 0}; }}};
let said = "";
const player = LW.player(e, DATA, {say: (text) => { said = text; }, changed() {}});
"""


def play(script: str, duration: float = 2.0, closed: bool = True) -> Any:
    head = ENGINE.replace("DURATION", str(duration)).replace("CLOSED", json.dumps(closed))
    return run(("player/play", "player/glide"), head + script)


def test_a_motion_with_a_gap_ends_before_it_and_begins_behind_it() -> None:
    """Reachable from 207 over 360 to 153 degrees: no frame shows the gap; played again it begins behind it."""
    script = "e.stretch=()=>({from:207,to:513});e.cycle.why='stops';player.seek(300);player.play();const out_=[];"
    ended = "for(let k=0;k<240;k++){player.advance(1/60);out_.push(player.s)}"
    seen, playing, words, again = play(f"{script}{ended}out=[out_,player.playing,said];player.play();out.push(player.s)")
    assert not any(153 < s < 207 for s in seen) and min(seen) < 10 and max(seen) > 350
    assert seen[-1] == 153 and not playing and "stops" in words and again == 207
    # in the gap: played from the next position that can be reached; where there is none it ends at once
    assert play("e.stretch=()=>({from:207,to:300});player.seek(180);player.play();player.advance(1/60);out=player.s") == 207 + 3
    nowhere = "e.stretch=(s)=>({from:s,to:s});e.cycle.why='cannot be assembled';player.seek(20);player.play();player.advance(1/60);"
    assert play(nowhere + "out=[player.s,player.playing,said]") == [20, False, "cannot be assembled"]


def test_a_turn_keeps_time_and_goes_round() -> None:
    # 0.5 s of 2 s are 90 of 360 samples; 23 s more are 11.5 turns
    a, b = play(
        "player.play();for(let i=0;i<10;i++)player.advance(.05);out=[player.s];for(let i=0;i<230;i++)player.advance(.1);out.push(player.s)"
    )
    assert a == pytest.approx(90) and b == pytest.approx(270)
    # an open motion waits at its end, then starts again
    s = play(
        "player.play();player.seek(359);player.play();out=[];for(let i=0;i<12;i++){player.advance(.1);out.push(player.s)}", closed=False
    )
    assert s[:7] == [360] * 7 and 0 < s[-1] < 90


def test_fast_and_slow_motions_are_shown_at_a_pace_one_can_watch() -> None:
    paces = run(("player/play",), "out=[0.02,1.333,15,600].map((d)=>{const r=LW.player.comfortable(d);return [d/r,LW.player.paceText(r)]})")
    assert paces == [[2.5, "1/130 real time"], [1.333, "real time"], [15, "real time"], [12, "50× real time"]]


def test_after_the_hand_the_drive_walks_to_the_nearest_position_without_a_jump() -> None:
    # the hand has left the crank at 200.5 degrees, two turns on; the turn goes on from there
    s, angle = play(
        "player.enter('drag');e.state.drive=[4*Math.PI+200.5*Math.PI/180];player.play();player.advance(.016);player.advance(.016);out=[player.s,e.state.drive[0]]"
    )
    assert 201 < s < 215 and angle == pytest.approx(s * 3.141592653589793 / 180)
    # a cycle that only reaches 0 .. 90 degrees is reached by small steps
    steps = play(
        "DATA.cycle.value.data=value.map((x)=>x/4);e.state.drive=[2];player.mode='drag';player.play();out=[];let last=2;"
        "for(let i=0;i<60;i++){player.advance(.016);out.push(Math.abs(e.state.drive[0]-last));last=e.state.drive[0];if(e.gone.length)break}"
    )
    assert len(steps) > 20 and max(steps[:-1]) < 0.05


def test_a_free_swing_starts_from_rest_or_with_the_speed_it_had_and_ends_with_a_sentence() -> None:
    rest, going, said, playing = play(
        "player.enter('swing');out=[Array.from(e.v)];player.enter('turn');player.playing=true;player.enter('swing');out.push(e.v);"
        "for(let i=0;i<10;i++)player.advance(.05);out.push(said,player.playing)"
    )
    assert rest == [0] and going == [7] and "free swing ends" in said and playing is False


def test_mixed_poses_are_rotations() -> None:
    turned = "[Math.cos(2),-Math.sin(2),0,Math.sin(2),Math.cos(2),0,0,0,1]"
    R = run(("player/glide",), f"out=Array.from(LW.blendPoses({{R:[1,0,0,0,1,0,0,0,1],p:[0,0,0]}},{{R:{turned},p:[1,2,3]}},.5).R)")
    assert R[0] * R[4] - R[1] * R[3] == pytest.approx(1.0, abs=1e-12)
    # halfway between 0 and 2 rad
    assert R[0] == pytest.approx(0.5403023058681398, abs=1e-12)


def test_angles_of_a_full_turn_are_told_within_it() -> None:
    cycle = "{full_turn:true,drives:['A','B'],kinds:['angle','length'],over:{name:'A'}}"
    found = run(
        ("player/transport",),
        f"const c={cycle};out=[7,-1,2*Math.PI,0].map((x)=>LW.withinTurn(x,c));c.over.name='t';out.push(LW.withinTurn(7,c))",
    )
    assert found == pytest.approx([7 - 6.283185307179586, 5.283185307179586, 0, 0, 7], abs=1e-9)


def test_vectors_of_any_plane_are_named_by_its_axes() -> None:
    # a planar model keeps its two coordinates first, whatever they are called
    told = run(
        ("panels/cards",),
        "LW.format=String;const say=LW.cards.components;out=['xy','xz','yz'].map((axes)=>say({planar:true,axes},[1,2,0],'force'));"
        "out.push(say({planar:false,axes:'xyz'},[1,2,3],'force'))",
    )
    assert told == ["x 1, y 2", "x 1, z 2", "y 1, z 2", "x 1, y 2, z 3"]
