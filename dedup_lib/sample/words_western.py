"""The words that English, German, French and Russian sample texts are made of. Data only; `lexicon` reads it.

`common` holds real words, the most frequent ones first. `beginnings`, `middles` and `endings` compose further
plausible words. Everything can be encoded in the charsets that the sites of the language use.
"""

from dedup_lib.sample.wordlist import WordList

ENGLISH = WordList(
    code="en",
    common="""
    the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which
    one you were all her she there would their we him been has when who will no more if out so up said what its about
    than into them can only other time new some could these two may first then do any like my now over such our man me
    even most made after also did many off before must well back through years where much your way down should because
    long each just state those people too mr how little good world make very year still see own work men day get here
    old between both life being under three never know same last another while us might great go come since against
    right came take used himself few house use place during high without again home around small however found thought
    went say part once general school every don left number course war until always away something water public put
    think almost hand enough far took head yet government system better set told nothing night end called city river
    mountain garden winter summer market bridge paper letter window kitchen table story music engine station island
    harbour village farmer teacher doctor painter captain weather morning evening journey café naïve
    """,
    beginnings="con per re in de trans inter sub ex pro com dis over under ab ad ob pre sur syn ante circum mis non",
    middles="form port struct tract duct vers mit cept ject scrib pel fer gress pos sist tain vent sent curr cis dict",
    endings="ation er ing ive ment able ed or ance ure ible al ents ory ant ings ently ers",
)

GERMAN = WordList(
    code="de",
    common="""
    die der und in zu den das nicht von sie ist des sich mit dem dass er es ein ich auf so eine auch als an nach wie
    im für man aber aus durch wenn nur war noch werden bei hat wir was wird sein einen welche sind oder um haben einer
    mir über ihm diese einem ihr uns da zum kann doch vor dieser mich ihn du hatte seine mehr am denn nun unter sehr
    selbst schon hier bis habe ihre dann ihnen seiner alle wieder meine Zeit gegen vom ganz einzelnen wo muss ohne
    eines können sei ja wurde jetzt immer seinen wohl dieses ihren würde diesen sondern weil welcher nichts diesem
    alles waren will Herr viel mein also soll worden lassen dies machen ihrer weiter Leben recht etwas keine seinem ob
    dir allen großen Jahre Weise müssen welches wäre erst einmal Mann hätte zwei dich allein Herren während Paragraph
    anders Liebe kein damit gar Hand Herrn euch sollte konnte ersten deutschen zwischen wollen denen dessen sagen bin
    Menschen gut darauf wurden weiß gewesen Seite bald weit große solche hatten eben andern beiden macht sehen ganze
    anderen lange wer ihrem zwar gemacht dort kommen Welt heute Frau werde derselben Fluss Brücke Straße Wald Garten
    Winter Sommer Markt Schule Küche Fenster Tür Abend Morgen Wetter Dorf Stadt Hafen Schiff Zeitung Bücher
    """,
    beginnings="""
    ver be ent er zer ge vor ab an auf aus ein mit nach über unter um zu Haupt Wasser Land Stein Wind Holz
    """,
    middles="""
    arbeit hand stell fahr schreib bau richt fall trag druck wend führ spiel sprech zieh folg kauf blick les ruf
    """,
    endings="ung en er lich bar heit keit ungen end ten ers erin sam isch los schaft",
)

FRENCH = WordList(
    code="fr",
    common="""
    de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se il sont la ce avec ont son
    cette ou être mais comme on nous tout sa fait été aussi leur bien peut ces deux même si sans elle ans entre dont
    après vous encore toute fois deux autres était ses depuis temps tous premier monde je très avant donc moins faire
    notre lui où contre ainsi non alors années trois peu jour toujours pays leurs jamais quand rien chez celui dire
    part moi grande vie sous lors grand autre doit selon point certains moment pendant plusieurs soit chaque beaucoup
    cas quelques homme nombre cela nouveau toutes aujourd vers petit mois eau travail hommes enfants place femme ville
    fin mieux question loin groupe jours main année autant mal heure partie ici surtout suite maison demain rue forme
    effet trop histoire dernier mise raison fort mer vent pont rivière forêt jardin hiver été marché école cuisine
    fenêtre porte soir matin village port bateau journal livre montagne chemin lumière voix lettre musique peintre
    médecin élève boulanger fermier voisin gâteau château forêts île âge près déjà voilà façon reçu
    """,
    beginnings="con dé ré in pré sur sous entre trans ex pro com dis per inter ad é en re ap",
    middles="form port struct tract duit vers mett cept jet crit pul fér gress pos sist tien vent sent cour dict",
    endings="ation eur ant if ement able ée er ance ure ible el ents oire ions ait eurs euse ais",
)

RUSSIAN = WordList(
    code="ru",
    common="""
    и в не на я быть он с что а по это она этот к но они мы весь который из у то за свой что весь год от так о для ты
    же все тот мочь вы человек такой его сказать только или ещё бы себя один как уже до время если сам когда другой
    вот говорить наш мой знать стать при чтобы дело жизнь кто первый очень два день её новый рука даже во со раз где
    там под можно ну какой после их работа без самый потом надо хотеть ли слово идти большой должен место иметь ничто
    то сейчас тут лицо каждый друг нет теперь ни глаз тоже тогда видеть вопрос через да здесь дом да потому сторона
    какой-то думать сделать страна жить чем мир об последний случай голова более делать что-то смотреть ребёнок просто
    конечно сила российский конец перед несколько вид система всегда работать между три нет понять пойти часть
    спросить город дать также никто понимать получить отношение лишь второй именно твой ваш хотя ни сидеть над женщина
    оказаться русский один взять прийти являться деньги почему вдруг любить стоить почти земля общий ведь машина
    однако сразу хорошо вода отец высокий остаться выйти много проблема начать хороший час это сегодня право совсем
    нога считать главный решение увидеть дверь казаться образ писать история лучший власть закон все война бог голос
    найти поэтому стоять вообще тысяча больше вместе маленький книга некоторый решить любой возможность результат река
    мост лес сад зима лето рынок школа кухня окно вечер утро погода деревня корабль газета письмо музыка гора
    """.replace("-", " "),
    beginnings="пере при под рас вы за на об от по про раз до ис над пред вос со у без",
    middles="работ ход вод нос став пис каз дел говор вид мет град лож ступ движ прав смотр твор род стро",
    endings="ать ить ение ание ный ная ник ость ский ка ами ого ает или ству ованный ений ную ой",
)

WESTERN = (ENGLISH, GERMAN, FRENCH, RUSSIAN)
